"""`--abort-seen`: what a wire does not show of an abort, a command of its user does."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from conform.trials import PATIENCE, PROMPTS, Trial, failures, reasons
from gateway.faulty_ag_ui import GoesOn, SoundAgent
from turnwire.conform.given import Choices
from turnwire.conform.run import Report
from turnwire_lab.agents.ag_ui.events import encode, started
from turnwire_lab.agents.ag_ui.http import Responder
from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets
ABORT = ("hang-up-aborts",)
STOP = ("stop-in-a-tool",)
PATIENT = replace(PATIENCE, abort_s=0.6, look_s=4.0)
"""A command needs some time itself, on a busy machine."""


async def played(agent: SoundAgent, mark: Path, only: tuple[str, ...] = ABORT) -> Report:
    agent.mark = mark
    trial = Trial("ag-ui", PROMPTS, Choices(abort_seen=f"test ! -e {mark}"), PATIENT)
    async with agent:
        return await trial.report(agent.url, only)


async def test_an_agent_that_aborts_passes(tmp_path: Path) -> None:
    assert (await played(SoundAgent(), tmp_path / "runs")).is_well


async def test_an_agent_that_goes_on_for_a_while_is_named(tmp_path: Path) -> None:
    seen = failures(await played(GoesOn(), tmp_path / "runs"))[ABORT[0]]
    assert seen.startswith("--abort-seen saw the end of the turn ")
    assert seen.endswith(" s after the hang-up")


async def test_an_agent_that_goes_on_for_good_is_named(tmp_path: Path) -> None:
    agent = GoesOn()
    agent.ALONE_S = 60.0
    assert failures(await played(agent, tmp_path / "runs")) == {
        ABORT[0]: "4 s after the hang-up, --abort-seen still saw a turn that runs"
    }


async def test_without_the_command_it_is_not_applicable() -> None:
    async with SoundAgent() as agent:
        report = await Trial("ag-ui").report(agent.url, ABORT)
    assert reasons(report)[ABORT[0]].endswith(
        "after which it shows nothing: only with --abort-seen"
    )


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("true", "--abort-seen exited with 0 while a turn ran, so it shows nothing"),
        ("/no/such/command", "--abort-seen cannot be run (exit code 127)"),
        ("sleep 9", "--abort-seen took too long"),
    ],
)
async def test_a_command_that_shows_nothing_is_named(command: str, reason: str) -> None:
    patience = replace(PATIENT, look_s=0.2)
    trial = Trial("ag-ui", choices=Choices(abort_seen=command), patience=patience)
    async with SoundAgent() as agent:
        report = await trial.report(agent.url, ABORT)
    assert reasons(report) == {ABORT[0]: reason}


async def test_it_looks_behind_the_verdict_of_a_wire_that_has_one() -> None:
    trial = Trial("v2", choices=Choices(abort_seen="false"), patience=PATIENT)
    async with ReferenceAgent(Habits(pace_s=0.001, slow_s=0.008)) as agent:
        report = await trial.report(agent.url, ABORT)
    assert "--abort-seen still saw a turn" in failures(report)[ABORT[0]]


class SlowTool(SoundAgent):
    """Its tool runs for as long as somebody reads, or for a while."""

    async def _run(self, asked: Json, responder: Responder) -> None:
        with self.counted():
            await responder.send(started(asked["threadId"], asked["runId"]))
            await responder.send(encode("TOOL_CALL_START", toolCallId="c1", toolCallName="wait"))
            await asyncio.sleep(30.0)


class SlowToolGoesOn(GoesOn, SlowTool):
    """Its tool runs to its end."""


async def test_a_stop_in_a_tool_is_seen_too(tmp_path: Path) -> None:
    assert (await played(SlowTool(), tmp_path / "runs", STOP)).is_well


async def test_a_tool_that_goes_on_after_a_stop_is_named(tmp_path: Path) -> None:
    seen = failures(await played(SlowToolGoesOn(), tmp_path / "runs", STOP))
    assert seen == {STOP[0]: "4 s after the stop, --abort-seen still saw a turn that runs"}
