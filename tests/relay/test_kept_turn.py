"""What is kept of a turn for its next run counts for the memory budget, and is given up for it."""

import json
from collections.abc import Sequence
from typing import Any, Final

import pytest

from gateway.asking_agent import call, prompting
from gateway.clients import Chat, ask, chunks, errors
from gateway.http_agent import Asked, HttpAgent
from gateway.running import Gateway
from gateway.waiting import until
from support import ag_ui_frames as f
from support.http_dialect import CHUNKED, chunk
from turnwire.dialects.ag_ui.turn import TOO_LONG
from turnwire.relay.agent.parked import AgentSide
from turnwire.relay.memory_budget import SMALL_BYTES, Budget
from turnwire.testing.client_model import read

TEXT: Final = 300_000
"""Characters that the agent says before it asks."""


class Keeping:
    """A protocol of which only what it keeps counts here."""

    def __init__(self) -> None:
        self.kept_bytes = 0

    def forget(self) -> None:
        self.kept_bytes = 0


def agent_side(budget: Budget, protocol: Any, ends: list[str]) -> AgentSide:
    return AgentSide(budget.holder("u1"), None, lambda: ends.append("end"), protocol)


def test_what_a_protocol_keeps_counts_if_it_is_much() -> None:
    budget, keeping = Budget(), Keeping()
    side = agent_side(budget, keeping, [])

    held: list[int] = []
    for keeping.kept_bytes in (SMALL_BYTES, SMALL_BYTES + 1, 10 * SMALL_BYTES, 10, 0):
        side.count_kept()
        held.append(budget.held_bytes)

    assert held == [0, SMALL_BYTES + 1, 10 * SMALL_BYTES, 10, 0]


def test_a_protocol_without_room_forgets_and_its_stream_goes_on() -> None:
    budget, keeping, ends = Budget(10 * SMALL_BYTES), Keeping(), list[str]()
    side = agent_side(budget, keeping, ends)

    keeping.kept_bytes = 11 * SMALL_BYTES
    side.count_kept()

    assert (keeping.kept_bytes, budget.held_bytes, ends) == (0, 0, [])


def test_a_protocol_forgets_for_another_user() -> None:
    budget, keeping, ends = Budget(10 * SMALL_BYTES), Keeping(), list[str]()
    side = agent_side(budget, keeping, ends)
    keeping.kept_bytes = 8 * SMALL_BYTES
    side.count_kept()

    assert budget.holder("u2").reserve().set(5 * SMALL_BYTES)

    assert (keeping.kept_bytes, budget.held_bytes, ends) == (0, 5 * SMALL_BYTES, [])


def test_a_stream_without_a_protocol_keeps_nothing() -> None:
    budget = Budget()
    agent_side(budget, None, []).count_kept()

    assert budget.held_bytes == 0


async def asks(asked: Asked) -> None:
    """Say much, unless the user did, then ask. After the answer, say that all is done."""
    run = json.loads(asked.body)
    if "resume" in run:
        said: Sequence[bytes] = (f.text("Done.", "m2"), f.finished(run["runId"]))
    else:
        question = {"id": "i1", "reason": "input_required", "message": "Where to?"}
        outcome = {"type": "interrupt", "interrupts": [question]}
        is_long = len(run["messages"]) > 1
        texts = [f.text("Hm. ")] if is_long else [f.text("x" * (TEXT // 10))] * 10
        said = (*texts, f.finished(run["runId"], outcome=outcome))
    begun = f.started(run["runId"])
    events = b"".join(b"data: %b\n\n" % each for each in (begun, *said))
    await asked.say(CHUNKED + chunk(events) + chunk(b""))


async def answer(gateway: Gateway, chat: Chat) -> bytes:
    await chat.sees('"state":"open"')
    question = next(each for each in chunks(chat.body) if each["type"] == "data-question")
    given = await call(gateway, "answer", {"questionId": question["id"], "answer": "Rome"})
    assert given.status_code == 202
    return await chat.end()


@pytest.mark.sockets
async def test_a_turn_that_waits_counts_what_it_keeps() -> None:
    async with (
        HttpAgent(asks) as agent,
        Gateway(agent.url, dialect="ag-ui") as gateway,
        prompting(gateway, body=ask("go")) as chat,
    ):
        await chat.sees('"state":"open"')
        await until(lambda: gateway.dialler.budget.held_bytes >= TEXT)
        body = await answer(gateway, chat)

    assert read(body).text == "x" * TEXT + "Done."


@pytest.mark.sockets
@pytest.mark.fault(
    "`TURNWIRE_HELD_BYTES` is spent while a turn waits for an answer",
    "it still waits; what was kept for its next run is given up, so the answer gets an error",
)
async def test_a_turn_that_waits_gives_up_what_it_kept() -> None:
    """It is the largest that is held, when another user needs memory."""
    earlier = [
        {"id": f"u{n}", "role": "user", "parts": [{"type": "text", "text": "x" * 90_000}]}
        for n in range(4)
    ]
    body = ask("go") | {"messages": [*earlier, *ask("go")["messages"]]}
    async with (
        HttpAgent(asks) as agent,
        Gateway(agent.url, dialect="ag-ui", held_bytes=500_000) as gateway,
        prompting(gateway, body=body) as chat,
    ):
        budget = gateway.dialler.budget
        await chat.sees('"state":"open"')
        await until(lambda: 360_000 <= budget.held_bytes < 400_000)
        with budget.holder("u2") as other:
            assert other.reserve().set(200_000)
            ended = await answer(gateway, chat)

    assert errors(ended) == [TOO_LONG]
    assert read(ended).text == "Hm. "
