"""Restarts of the agent, and long silences."""

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from conform.trials import PATIENCE, PROMPTS, Trial, failures, notes, reasons
from gateway.faulty_ag_ui import SoundAgent
from turnwire.conform.given import Choices
from turnwire_lab.agents.ag_ui.answer import Answer
from turnwire_lab.agents.ag_ui.events import encode, finished, started
from turnwire_lab.agents.ag_ui.http import Request, Responder
from turnwire_lab.agents.common.frames import Json

pytestmark = pytest.mark.sockets
RESTART = ("restart",)
SILENCE = ("long-silence",)


def restarting(command: str) -> Trial:
    return Trial("ag-ui", choices=Choices(restart=command))


async def test_an_agent_that_is_restarted_answers_again() -> None:
    async with SoundAgent() as agent:
        report = await restarting("true").report(agent.url, RESTART)
    assert report.is_well
    assert report.turns == 2


@pytest.mark.parametrize(
    ("command", "seen"),
    [("exit 3", "--restart ended with exit code 3"), ("sleep 9", "--restart was not done after")],
)
async def test_a_restart_that_fails_is_named(command: str, seen: str) -> None:
    trial = restarting(command)
    trial.patience = replace(PATIENCE, restart_s=0.2)
    async with SoundAgent() as agent:
        report = await trial.report(agent.url, RESTART)
    assert failures(report)["restart"].startswith(seen)


async def test_an_agent_is_waited_for_until_it_listens(tmp_path: Path) -> None:
    mark = tmp_path / "restarted"
    async with SoundAgent() as first:
        url, port = first.url, first.port
        playing = asyncio.create_task(restarting(f"touch {mark}; sleep 0.1").report(url, RESTART))
        while not mark.exists():  # noqa: ASYNC110 (a file has no event)
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    async with SoundAgent() as second:
        server = await asyncio.get_running_loop().create_server(
            second._connection, "127.0.0.1", port
        )
        report = await playing
        server.close()
    assert report.is_well


class GoneForGood(SoundAgent):
    """It answers once."""

    def _refusal(self, request: Request) -> Answer | None:
        return Answer(status=500) if len(self.runs) > 1 else super()._refusal(request)


async def test_an_agent_that_does_not_come_back_is_named() -> None:
    trial = restarting("true")
    trial.patience = replace(PATIENCE, restart_s=0.1)
    async with GoneForGood() as agent:
        report = await trial.report(agent.url, RESTART)
    assert failures(report)["restart"] == (
        "the turn after the restart was refused: HTTP status 500"
    )


class Pauses(SoundAgent):
    """It is silent for some time, and then ends its turn, or the connection alone."""

    def __init__(
        self, pause_s: float, *, is_cut: bool = False, beats: bool = False, in_a_tool: bool = False
    ) -> None:
        super().__init__()
        self._pause_s, self._is_cut, self._beats = pause_s, is_cut, beats
        self._in_a_tool = in_a_tool

    async def _run(self, asked: Json, responder: Responder) -> None:
        ids = asked["threadId"], asked["runId"]
        await responder.send(started(*ids))
        call = {"toolCallId": "c1"}
        if self._in_a_tool:
            await responder.send(encode("TOOL_CALL_START", **call, toolCallName="wait"))
            await responder.send(encode("TOOL_CALL_END", **call))
        for _ in range(10):
            await asyncio.sleep(self._pause_s / 10)
            if self._beats:
                await responder.send(b": still here\n\n")
        if self._in_a_tool:
            result = {"messageId": "m1", "content": "done"}
            await responder.send(encode("TOOL_CALL_RESULT", **call, **result))
        if not self._is_cut:
            await responder.send(finished(*ids, []))


async def played(
    agent: Pauses,
    idle_s: float = 0.2,
    heartbeat_s: float = 9.0,
    settings: dict[str, float] | None = None,
) -> tuple[dict[str, str], dict[str, list[str]]]:
    patience = replace(PATIENCE, idle_s=idle_s, heartbeat_s=heartbeat_s)
    choices = Choices(is_long=True)
    trial = Trial("ag-ui", choices=choices, patience=patience, settings=settings or {})
    async with agent:
        report = await trial.report(agent.url, SILENCE)
    return failures(report), notes(report)


async def test_a_silence_that_ends_well_passes() -> None:
    assert await played(Pauses(0.3)) == ({}, {})


async def test_a_silence_that_is_too_short_shows_little() -> None:
    failed, noted = await played(Pauses(0.05), idle_s=5.0)
    assert not failed
    (told,) = noted["long-silence"]
    assert re.fullmatch(r"the turn was silent for \d+ s alone, which shows little", told)


async def test_a_connection_that_is_cut_in_the_silence_is_named() -> None:
    failed, _ = await played(Pauses(0.3, is_cut=True))
    assert failed["long-silence"].startswith("the turn with a silence lost its connection")


async def test_a_silence_without_a_heartbeat_is_a_note() -> None:
    failed, noted = await played(Pauses(0.8), heartbeat_s=0.4)
    assert not failed
    (note,) = noted["long-silence"]
    assert re.match(r"not one byte came for 0\.[89] s: many proxies cut a connection", note)


async def test_comments_are_a_heartbeat() -> None:
    assert await played(Pauses(0.8, beats=True), heartbeat_s=0.4) == ({}, {})


async def test_a_cut_after_a_silence_without_a_heartbeat_says_so() -> None:
    failed, _ = await played(Pauses(0.5, is_cut=True), heartbeat_s=0.2)
    assert re.search(
        r"lost its connection .* before it had a verdict; not one byte came for \d+(\.\d)? s$",
        failed["long-silence"],
    )


@pytest.mark.parametrize(
    ("in_a_tool", "note"),
    [(False, "after 0 s: see TURNWIRE_IDLE_S"), (True, "after 0 s: see TURNWIRE_TOOL_SILENCE_S")],
)
async def test_a_silence_that_a_gateway_does_not_wait_for_is_a_note(
    note: str, *, in_a_tool: bool
) -> None:
    settings = {"idle_s": 99.0, "tool_silence_s": 99.0}
    settings["tool_silence_s" if in_a_tool else "idle_s"] = 0.2
    failed, noted = await played(Pauses(0.4, in_a_tool=in_a_tool), settings=settings)
    assert not failed
    (told,) = noted["long-silence"]
    # How long it was, is for the machine to say.
    assert re.fullmatch(rf"no event came for \d+ s, and a gateway gives up {note}", told)


class SlowTool(SoundAgent):
    """Nothing comes while its tool runs."""

    def changed(self, event: Json) -> Iterator[Json | bytes]:
        if event["type"] == "TOOL_CALL_RESULT":
            time.sleep(0.5)
        yield event


async def test_a_tool_that_runs_without_a_heartbeat_is_a_note() -> None:
    trial = Trial("ag-ui", patience=replace(PATIENCE, heartbeat_s=0.3))
    async with SlowTool() as agent:
        report = await trial.report(agent.url, ("tool-life",))
    assert not failures(report)
    assert notes(report)["tool-life"][0].startswith("not one byte came for 0.")


async def test_neither_is_played_unless_it_is_asked_for() -> None:
    async with SoundAgent() as agent:
        trial = Trial("ag-ui", replace(PROMPTS, quiet=""))
        report = await trial.report(agent.url, (*RESTART, *SILENCE))
        trial.choices = Choices(is_long=True)
        without_a_prompt = await trial.report(agent.url, SILENCE)
    assert reasons(report) == {
        "restart": "no --restart was given",
        "long-silence": "it takes minutes: only with --long",
    }
    assert reasons(without_a_prompt) == {"long-silence": "no --quiet-prompt was given"}
    assert not report.is_well
    assert not agent.runs
