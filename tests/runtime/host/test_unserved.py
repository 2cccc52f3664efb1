"""Sessions that a replica cannot serve, and drivers that hand over what nobody can keep."""

import asyncio
import logging
import sys

import pytest
from msgspec import Raw

from gateway.waiting import PATIENCE_S
from runtime.host.hosted import Scripted, echo, hosted, words
from turnwire_agent.host.commands import AbortCommand
from turnwire_agent.host.driver import Ended, Parked, Turn
from turnwire_agent.host.holder import TAKEOVERS_MAX
from turnwire_agent.host.live_session import LiveSession
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Effect, Row
from turnwire_agent.session.codec import row_of
from turnwire_agent.session.deltas import DataSet, TextAdded
from turnwire_agent.session.events import (
    CallBegun,
    CallEnded,
    Event,
    Prompted,
    TurnBegun,
    TurnTakenOver,
)


def refusals(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.CRITICAL]


async def test_a_session_of_a_newer_program_is_left_to_that_program(
    caplog: pytest.LogCaptureFixture,
) -> None:
    journal = MemoryJournal()
    async with hosted(Scripted(echo), journal) as host:
        newer = await journal.claim("s1", "newer", 5)
        assert newer is not None
        await journal.append(newer, [Row("prompted.9", b"{}")], release=True)
        await host.replica.put("s1", "c1", AbortCommand(turn_id="t"))
        await asyncio.sleep(0.8)  # several looks, and more than a lease

        assert len(refusals(caplog)) == 1
        assert await journal.claim("s1", "newer", 5) is not None
        async with host.socket("s2") as socket:
            assert words(await socket.turn("hello")) == "hello "


async def test_a_session_that_fails_here_is_given_back_without_a_word_of_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: LiveSession) -> None:
        raise RuntimeError("a prompt of somebody")

    journal = MemoryJournal()
    async with hosted(Scripted(echo), journal) as host:
        monkeypatch.setattr(LiveSession, "catch_up", fail)
        await host.replica.put("s1", "c1", AbortCommand(turn_id="t"))
        await asyncio.sleep(0.3)

        assert "RuntimeError at fail" in refusals(caplog)[0]
        assert "somebody" not in caplog.text
        assert await journal.claim("s1", "other", 5) is not None


async def exits(_: Turn) -> Ended:
    sys.exit("as libraries for the command line do")


async def interrupts(_: Turn) -> Ended:
    raise KeyboardInterrupt


async def is_strange(_: Turn) -> Ended:
    raise GeneratorExit  # no `Exception`, and asyncio keeps it in the task


async def parked(_: Turn) -> Parked:
    return Parked()


async def long_key(turn: Turn) -> Ended:
    begun = CallBegun(
        turn_id=turn.turn_id, call_id="c1", tool="t", key="k", effect="once", input=Raw(b"{}")
    )
    await turn.write(begun, effects=[Effect("k" * 600, "s1/c1", "", "intent")])
    return Ended()


async def no_json_streamed(turn: Turn) -> Ended:
    turn.add(DataSet("weather", Raw(b"{oops")))
    return Ended()


async def no_json_written(turn: Turn) -> Ended:
    value = Raw(b"{oops")
    await turn.write(
        CallEnded(turn_id=turn.turn_id, call_id="c1", tool="t", outcome="done", value=value)
    )
    return Ended()


@pytest.mark.parametrize(
    "answer", [exits, interrupts, is_strange, parked, long_key, no_json_streamed, no_json_written]
)
async def test_a_driver_that_breaks_its_contract_ends_one_turn_alone(answer: object) -> None:
    async def turn(turn: Turn) -> Ended | Parked:
        if turn.prompt.content == "go on":
            turn.add(TextAdded("fine"))
            return Ended()
        return await answer(turn)  # type: ignore[operator, no-any-return]

    async with hosted(Scripted(turn)) as host:
        async with host.socket() as socket, asyncio.timeout(PATIENCE_S):
            frames = await socket.turn("break it")
            assert frames[-2]["reason"] == "error"
            assert frames[-2]["error"] == "The agent failed."
        await asyncio.sleep(0.05)
        async with host.socket() as socket, asyncio.timeout(PATIENCE_S):
            assert words(await socket.turn("go on", "p2")) == "fine"


async def test_streamed_words_that_no_row_can_hold_do_not_stop_the_session() -> None:
    async def turn(turn: Turn) -> Ended:
        if turn.prompt.content == "break it" and len(turn.events) == 1:
            turn.add(DataSet("weather", Raw(b"1"), data_id=object()))  # type: ignore[arg-type]
            await asyncio.Event().wait()
        return Ended()

    async with hosted(Scripted(turn)) as host, host.socket() as socket, asyncio.timeout(PATIENCE_S):
        assert (await socket.turn("break it"))[-2]["reason"] == "end_turn"


async def test_a_turn_that_kills_each_process_is_given_up() -> None:
    journal = MemoryJournal()
    await journal.start()
    dead = await journal.claim("s1", "dead", 0.1)
    assert dead is not None
    events: list[Event] = [
        Prompted(entry_id="e1", prompt_id="p1", content="hello"),
        TurnBegun(turn_id="t1", entry_id="e1"),
        *[TurnTakenOver(turn_id="t1")] * TAKEOVERS_MAX,
    ]
    await journal.append(dead, [Row(*row_of(event)) for event in events], release=True, wake_at=0.0)

    async def turn(turn: Turn) -> Ended:
        assert turn.turn_id != "t1"
        return Ended()

    async with hosted(Scripted(turn), journal) as host, host.socket() as socket:
        async with asyncio.timeout(PATIENCE_S):
            finalized = await socket.until("message.finalize", turnId="t1")
            assert (finalized["reason"], finalized["error"]) == ("error", "The agent failed.")
            assert (await socket.turn("next", "p2"))[-2]["reason"] == "end_turn"
