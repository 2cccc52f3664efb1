"""Turns that wait for a person: they hold nothing, and any replica goes on with them."""

import asyncio
import gc
import os
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.host.hosted import QUICK, Hosted, hosted
from runtime.kill.heard import turns
from runtime.kill.mortal import tools_of
from runtime.kill.provider import Provider
from runtime.kill.world import acts
from runtime.llm.call.called import Key, model
from turnwire_agent.drivers.answers import ProviderAnswers
from turnwire_agent.drivers.model import ModelDriver
from turnwire_agent.journal.sqlite.journal import SqliteJournal
from turnwire_agent.llm.call.http import http_client
from turnwire_agent.llm.call.stream import CallSettings
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.limits import Limits
from turnwire_agent.session.events import Prompted
from turnwire_agent.tools.contract import Tools
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread

PARKED = int(os.environ.get("PARKED", "150"))
"""How many turns wait at once. PARKED=1000 takes a minute."""
PARKED_MAX = 5_000
"""Most bytes of the process for each of them."""
AT_ONCE = 40


@asynccontextmanager
async def replica(folder: Path, **limits: Any) -> AsyncIterator[Hosted]:
    """One of several, one after another, on one journal. What its tools do is in `world`."""
    thread = ToolThread()
    async with Provider() as provider, http_client() as client:
        driver = ModelDriver(
            agent=Agent(
                model=model(provider.url),
                tools=Tools(tools_of(folder / "world")),
                limits=Limits(**limits),
            ),
            answers=ProviderAnswers(Key(), CallSettings(client=client)),
            tools=ToolRunner(thread, grace_s=0.3),
        )
        journal = SqliteJournal(folder / "journal.db", synchronous="normal")
        try:
            async with hosted(driver, journal, QUICK) as host:
                yield host
        finally:
            thread.close()


async def parked(host: Hosted, session: str) -> str:
    """Ask for something that a person must allow; return the id of the question."""
    async with host.socket(session) as socket:
        await socket.ask("use erase")
        return str((await socket.until("question"))["questionId"])


async def outcome(host: Hosted, session: str) -> dict[str, Any]:
    """What became of the call, once its turn is over."""
    async with host.socket(session) as socket:
        while "p1" not in turns(socket.seen[0]) or socket.seen[0]["data"].get("runningTurnId"):
            await socket.until("complete", promptId="p1")
            break
    async with host.socket(session) as socket:
        (call,) = [each for each in turns(socket.seen[0])["p1"] if each["type"] == "tool-call"]
        return dict(call)


async def unheld(host: Hosted) -> None:
    """Wait until the replica has nothing of any session."""
    while host.replica._sessions:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)  # what was cancelled with them ends


async def test_turns_that_wait_take_next_to_nothing(tmp_path: Path) -> None:
    async with replica(tmp_path) as host:
        await parked(host, "first")  # whatever is made once is made
        await unheld(host)
        tasks = len(asyncio.all_tasks())
        gc.collect()
        tracemalloc.start()
        try:
            for start in range(0, PARKED, AT_ONCE):
                for number in range(start, min(PARKED, start + AT_ONCE)):
                    prompted = Prompted(entry_id=f"e{number}", prompt_id="p1", content="use erase")
                    await host.replica.put(f"s{number}", "prompt-p1", prompted)
                await unheld(host)
            gc.collect()
            taken, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert taken < PARKED * PARKED_MAX
        assert len(asyncio.all_tasks()) <= tasks
        journal = SqliteJournal(tmp_path / "journal.db")
        await journal.start()
        lease = await journal.claim(f"s{PARKED - 1}", "somebody", 0.01)
        await journal.aclose()
        assert lease is not None, "a turn that waits holds its lease"
        async with host.socket(f"s{PARKED // 2}") as socket:
            assert turns(socket.seen[0])["p1"][-1]["type"] == "question"


async def test_a_call_that_is_allowed_after_a_restart_runs_once_with_its_own_input(
    tmp_path: Path,
) -> None:
    async with replica(tmp_path) as host:
        question = await parked(host, "s1")
        await unheld(host)
    async with replica(tmp_path) as host, host.socket("s1") as socket:
        answer = {"approved": True, "input": {"what": "everything"}, "args": {"what": "everything"}}
        for each in (answer, answer, False):
            await socket.send("answer", questionId=question, answer=each)
        call = await outcome(host, "s1")
    assert call["result"] == "erased x0"
    assert call["args"] == {"what": "x0"}
    assert [name for name, _ in acts(tmp_path / "world")] == ["erase"]


@pytest.mark.parametrize(
    "answer", [False, "deny", {"approved": False}, {"what": "everything"}, 1, None]
)
async def test_a_call_that_is_not_plainly_allowed_does_not_run(
    answer: object, tmp_path: Path
) -> None:
    async with replica(tmp_path) as host:
        question = await parked(host, "s1")
        await unheld(host)
    async with replica(tmp_path) as host, host.socket("s1") as socket:
        await socket.send("answer", questionId=question, answer=answer)
        await socket.send("answer", questionId=question, answer=True)  # the first one counts
        call = await outcome(host, "s1")
    assert call["status"] == "error"
    assert acts(tmp_path / "world") == []


async def test_a_question_whose_time_is_over_is_closed_by_whoever_is_there(tmp_path: Path) -> None:
    async with replica(tmp_path, question_s=1) as host:
        question = await parked(host, "s1")
        await unheld(host)
    async with replica(tmp_path, question_s=1) as host:
        call = await outcome(host, "s1")
        async with host.socket("s1") as socket:
            await socket.send("answer", questionId=question, answer=True)
            assert (await socket.turn("hello", "p2"))[-2]["reason"] == "end_turn"
    assert call["status"] == "error"
    assert acts(tmp_path / "world") == []
