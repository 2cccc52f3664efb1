"""Agents of other wires, as scripts: what is applicable passes, and a fault is named."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest

from conform.trials import Trial, failures, reasons
from gateway import acp_agent as acp
from gateway.agent import Line, ScriptedAgent
from support import openai_chat_frames as chat
from support import openai_responses_frames as responses
from turnwire_lab.agents.ag_ui.answer import Answer
from turnwire_lab.agents.ag_ui.server import AgUiAgent

pytestmark = pytest.mark.sockets
WORDS = [f"{number} " for number in range(40)]
TEXT = ("one-turn", "quiet-after-the-end", "many-deltas", "each-delta-once")
ABORT = "hang-up-aborts"
MODEL = {"agent_model": "m"}


async def talk(line: Line, *, cancels: bool) -> None:
    """Answer a prompt over half a second, unless it is canceled."""
    await acp.begin(line)
    for word in WORDS:
        if line.closed:
            return
        if cancels and acp.of_method(line, "session/cancel"):
            await line.say(acp.response(10, stopReason="cancelled"))
            return
        await line.say(acp.text(word))
        await asyncio.sleep(0.012)
    await line.say(acp.response(10, stopReason="end_turn"))


async def test_an_agent_of_acp_says_that_it_canceled() -> None:
    trial = Trial("acp", settings={"agent_cwd": "/srv/project"})
    async with ScriptedAgent(partial(talk, cancels=True)) as agent:
        report = await trial.report(agent.url(), (*TEXT, ABORT))
    assert not failures(report)
    assert not reasons(report)


async def test_an_agent_of_acp_that_goes_on_is_named() -> None:
    trial = Trial("acp", settings={"agent_cwd": "/srv/project"})
    async with ScriptedAgent(partial(talk, cancels=False)) as agent:
        report = await trial.report(agent.url(), (*TEXT, ABORT))
    assert set(failures(report)) == {ABORT}


def body(events: Sequence[bytes]) -> Answer:
    pieces: list[bytes | float] = []
    for event in events:
        pieces += [b"data: " + event + b"\n\n", 0.001]
    return Answer(body=pieces)


COMPLETION = [
    *(chat.started(), *map(chat.text, WORDS), chat.finished(), chat.usage(total_tokens=3)),
    chat.DONE,
]
RESPONSE = [
    responses.created(),
    *(responses.added(responses.message(), 0), *map(responses.text, WORDS)),
    responses.text_done("".join(WORDS)),
    responses.event("response.completed", response={"id": "resp_1", "status": "completed"}),
]


@pytest.mark.parametrize(
    ("wire", "events", "failed"),
    [
        ("openai-chat", COMPLETION, set()),
        ("openai-chat", [*COMPLETION[:-3]], {"one-turn"}),
        ("openai-chat", [chat.started(), chat.failed()], {"one-turn"}),
        (
            "openai-chat",
            [chat.started(), chat.text("".join(WORDS)), *COMPLETION[-3:]],
            {"many-deltas"},
        ),
        ("openai-responses", RESPONSE, set()),
        ("openai-responses", RESPONSE[:-1], {"one-turn"}),
        ("openai-responses", [*RESPONSE, responses.text("more")], {"quiet-after-the-end"}),
    ],
)
async def test_an_agent_of_an_openai_wire(
    wire: str, events: Sequence[bytes], failed: set[str]
) -> None:
    async with AgUiAgent() as agent:
        agent.answers.extend([body(events)] * 3)
        report = await Trial(wire, settings=MODEL).report(agent.url, (*TEXT, ABORT))
    assert set(failures(report)) == failed
    assert reasons(report)[ABORT].startswith("on this wire, to abort is to close")
