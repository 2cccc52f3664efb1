"""The doctor before gateways whose agents speak over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.http_agent import Asked, HttpAgent, Script, answers
from gateway.running import Gateway
from gateway.tokens import token
from support import ag_ui_frames as f
from support.http_dialect import CHUNKED, END, HEAD, chunk, sized
from turnwire.doctor.checkup import Checkup, Report
from turnwire.doctor.client import Target
from turnwire.doctor.findings import Code, Finding, Severity
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits

pytestmark = pytest.mark.sockets

LONG = "tell me a long story"
BEGUN = CHUNKED + chunk(b"data: %b\n\ndata: %b\n\n" % (f.event("RUN_STARTED"), f.text("Hello")))


async def examined(gateway: Gateway, prompt: str | None) -> Report:
    target = Target(url=gateway.url, session="s1", token=token(), within_s=1.5)
    return await Checkup(target).run(prompt)


@asynccontextmanager
async def lab(**settings: Any) -> AsyncIterator[Gateway]:
    async with (
        AgUiAgent(Habits(pace_s=0.02, slow_s=0)) as agent,
        Gateway(f"{agent.url}?session={{session_id}}", dialect="ag-ui", **settings) as gateway,
    ):
        yield gateway


def noted(report: Report) -> dict[Code, Finding]:
    return {each.code: each for each in report.findings if each.code is not Code.HTTP1_ONLY}


async def test_an_agent_that_is_well() -> None:
    """The turn log tells of the running turn, so that the doctor sees the hang-up end it."""
    async with lab() as gateway:
        report = await examined(gateway, LONG)

    assert set(noted(report)) == {Code.NO_HISTORY, Code.UNFINISHED}
    assert report.is_well
    assert report.figures["gone_s"] > 0


async def test_without_a_turn_the_agent_is_not_asked() -> None:
    async with Gateway("http://127.0.0.1:9/agent", dialect="ag-ui") as gateway:
        report = await examined(gateway, None)

    assert set(noted(report)) == {Code.NO_HISTORY}
    assert "was not asked" in noted(report)[Code.NO_HISTORY].cause
    assert report.untried[0] == "whether the agent answers"


async def test_a_gateway_that_keeps_no_turns() -> None:
    async with lab(turn_log="off") as gateway:
        report = await examined(gateway, LONG)

    assert set(noted(report)) == {
        *(Code.NO_HISTORY, Code.NO_RESUME, Code.UNFINISHED, Code.ABORT_UNKNOWN)
    }
    seen = noted(report)[Code.NO_RESUME].seen
    assert seen == "asked for a running turn: 501, asked to stop a turn: 501"
    assert report.is_well


async def test_a_turn_log_that_cannot_keep_a_turn() -> None:
    async with lab(turn_log="redis://127.0.0.1:9") as gateway:
        report = await examined(gateway, "hello")

    assert Code.TURN_NOT_KEPT in noted(report)
    assert not report.is_well


async def ended(script: Script, **settings: Any) -> tuple[Report, int]:
    """The report on an agent that answers so, and the number of prompts that it got."""
    async with HttpAgent(script) as agent, Gateway(agent.url, dialect="ag-ui", **settings) as it:
        report = await examined(it, LONG)
    return report, len(agent.requests)


def wrong(report: Report) -> list[Code]:
    return [each.code for each in report.findings if each.severity is not Severity.NOTE]


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (sized(b"{}", HEAD.replace(b"text/event-stream", b"application/json")), "not-dialled"),
        (sized(b"", HEAD + b"content-encoding: gzip\r\n"), "not-dialled"),
        (b"HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n", "not-dialled"),
        (b"HTTP/1.1 422 No\r\ncontent-length: 2\r\n\r\n{}", "refused"),
    ],
    ids=["content type", "encoded", "redirect", "422"],
)
async def test_an_agent_that_answers_otherwise(response: bytes, code: str) -> None:
    report, prompts = await ended(answers(response))

    assert wrong(report) == [Code(f"agent-{code}")]
    assert prompts == 1  # another turn would show nothing more


async def test_an_agent_that_is_not_there() -> None:
    async with Gateway("http://127.0.0.1:9/agent", dialect="ag-ui") as gateway:
        report = await examined(gateway, LONG)

    assert wrong(report) == [Code.AGENT_NOT_DIALLED]
    assert "'Connection failed'" in noted(report)[Code.AGENT_NOT_DIALLED].seen


async def test_an_agent_whose_stream_ends_without_the_end_of_its_run() -> None:
    report, _ = await ended(answers(BEGUN + END))

    assert wrong(report) == [Code.AGENT_CUT]


async def test_an_agent_that_says_nothing() -> None:
    async def silent(asked: Asked) -> None:
        await asked.say(CHUNKED)

    report, _ = await ended(silent, idle_s=0.5)

    assert wrong(report) == [Code.AGENT_SILENT]


async def test_an_agent_whose_run_fails() -> None:
    async with lab() as gateway:
        report = await examined(gateway, "make the turn fail")

    assert wrong(report) == [Code.TURN_FAILED]
