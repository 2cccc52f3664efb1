"""Servers of other makes: what is applicable passes, and what they do not do is a note."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from conform.trials import PATIENCE, PROMPTS, Trial, failures, notes, reasons
from gateway.needed import lacking
from turnwire.conform.given import Choices
from turnwire.conform.scenarios import SCENARIOS
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import EXAMPLES, FRAMEWORKS, OTHER_AGENTS
from turnwire_lab.process import HOST, free_port

pytestmark = pytest.mark.sockets

PATIENT: Final = replace(
    PATIENCE, turn_s=20.0, greet_s=2.0, greet_most_s=6.0, abort_s=1.0, stop_s=2.0, look_s=5.0
)
"""As a user has it: the servers of others, on a busy machine, are slow."""
SAID: Final = replace(
    PROMPTS,
    plain="hello",
    long="tell me a story of 22 lines",
    unicode="what time is it in 東京?",
    question="delete notes.txt",
    big_output="",
)
"""What the models of the examples understand."""
OF_AG_UI: Final = {
    "greets": "before a prompt, this wire has no frame",
    "history": "this wire does not tell the history of a session",
    "answers-pings": "HTTP has no pings",
    "big-tool-output": "no --big-output-prompt was given",
    "lost-attempt": "this wire has no way to take parts back",
    "hang-up-aborts": "on this wire, to abort is to close the connection, after which it shows "
    "nothing: only with --abort-seen",
    "stop-in-a-tool": "on this wire, to abort is to close the connection, after which it shows "
    "nothing: only with --abort-seen",
    "late-abort": "on this wire, to abort is to close the connection of the turn: that can hit no "
    "other turn",
    "resume-in-mid-turn": "this wire has no way to follow a turn that another request began",
    "resume-after-the-end": "this wire has no way to follow a turn that another request began",
    "answered-twice": "on this wire, a question belongs to one stream: no second answer to it",
    "restart": "no --restart was given",
    "long-silence": "it takes minutes: only with --long",
}
OF_ACP: Final = {
    name: OF_AG_UI[name]
    for name in (
        *(
            "big-tool-output",
            "lost-attempt",
            "resume-in-mid-turn",
            "resume-after-the-end",
            "answered-twice",
        ),
        "long-silence",
    )
}
FAULTS: Final = {
    "goes_on": "hang-up-aborts",
    "tells_no_past": "history",
    "leaves_calls_open": "tool-life",
    "holds_text_back": "many-deltas",
    "blocks_in_a_tool": "answers-pings",
    "forgets_a_session_that_is_open_twice": "two-prompts",
    "greets_late": "greets",
}
"""Which scenario finds a fault of `faulty_acp`."""


def installed(name: str) -> None:
    framework = FRAMEWORKS.get(name) or OTHER_AGENTS[name]
    framework.python.exists() or lacking(f"{name} is not installed: `make tools`")


def of_acp(port: int) -> str:
    return f"ws://{HOST}:{port}/?session={{session_id}}"


def acp_trial(choices: Choices | None = None) -> Trial:
    settings = {"agent_cwd": str(EXAMPLES)}
    return Trial("acp", SAID, choices or Choices(), PATIENT, settings)


@pytest.mark.parametrize("name", ["pydantic-ai", "langgraph"])
async def test_a_framework_behind_ag_ui_passes_what_is_applicable(name: str) -> None:
    installed(name)
    async with FrameworkAgent(name) as agent:
        settings = {"history": agent.history}
        report = await Trial("ag-ui", SAID, patience=PATIENT, settings=settings).report(agent.url)
    assert (failures(report), notes(report)) == ({}, {})
    assert reasons(report) == OF_AG_UI


class FaultyAgent(FrameworkAgent):
    """The example of the ACP's SDK, as `faulty_acp` has it."""

    def __init__(self, fault: str, port: int = 0) -> None:
        super().__init__("acp", port=port)
        self._fault = fault

    async def _serve(
        self, stack: AsyncExitStack, python: Path, _application: str, port: int
    ) -> None:
        where: Sequence[str | Path] = ("--app-dir", Path(__file__).parent, "--factory")
        application = f"faulty_acp:{self._fault}"
        command = (python, "-m", "uvicorn", application, *where, "--port", str(port))
        await self._run(stack, (*command, "--log-level", "error"), application, port)


async def restart(asked: Path, done: Path, port: int, stack: AsyncExitStack) -> None:
    """Restart the agent of the stack when the file is there, and say so by the other one."""
    while not asked.exists():  # noqa: ASYNC110, ASYNC240 (a file has no event)
        await asyncio.sleep(0.02)
    await stack.aclose()
    await stack.enter_async_context(FaultyAgent("sound", port))
    done.touch()  # noqa: ASYNC240 (it is quick)


async def test_the_python_server_of_acp_passes_and_its_author_reads_what_it_forgets(
    tmp_path: Path,
) -> None:
    installed("acp")
    port, asked, done = free_port(), tmp_path / "asked", tmp_path / "done"
    command = f"touch {asked}; while test ! -e {done}; do sleep 0.05; done"
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(FaultyAgent("sound", port))
        restarting = asyncio.create_task(restart(asked, done, port, stack))
        trial = acp_trial(Choices(restart=command))
        trial.patience = replace(PATIENT, restart_s=60.0)
        report = await trial.report(of_acp(port))
        await restarting
    assert failures(report) == {}
    assert reasons(report) == OF_ACP
    assert notes(report) == {
        "stop-in-a-tool": ["the call that was stopped is told no end: execute"],
        "restart": [
            "after the restart: The agent has nothing of this conversation any more: it begins anew"
        ],
    }


def what_it_takes(name: str) -> set[str]:
    """A scenario, and those without which it shows nothing."""
    return {name}.union(*map(what_it_takes, SCENARIOS[name].after))


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_of_the_python_server_is_named_by_its_scenario_alone(fault: str) -> None:
    installed("acp")
    trial = acp_trial()
    trial.patience = replace(PATIENT, pong_s=1.0)
    async with FaultyAgent(fault) as agent:
        report = await trial.report(of_acp(agent.port), what_it_takes(FAULTS[fault]))
    assert set(failures(report)) == {FAULTS[fault]}, failures(report)
