"""Nothing that llmock finds in a client is found in ours, whatever the wire."""

import asyncio
from contextlib import aclosing
from itertools import chain, repeat
from typing import Any, Final

import pytest

from runtime.grader.conftest import Grader
from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.call.limits import Limits
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.credentials.api_key import NoKey
from turnwire_agent.llm.events import Event, Finish, TextDelta, ToolCall
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import Model, ShapeName
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.shapes import SHAPES
from turnwire_agent.llm.transcript import Result, Results, Text, Transcript, User
from turnwire_agent.loop.prepare import prepare
from turnwire_agent.tools.contract import Tools
from turnwire_agent.tools.functions import tool

PATHS: Final[dict[ShapeName, str]] = {
    "chat": "/v1",
    "responses": "/v1",
    "messages": "/anthropic/v1",
    "google": "/gemini/v1beta",
}
WORDS: Final = "one two three four five six "
REPLY: Final = {"type": "reply", "text": WORDS.strip(), "times": None}
HI: Final[Transcript] = (User((Text("Count to six."),)),)
LOST_ATTEMPTS: Final = 2
"""So often the loop retracts what was told, and asks again."""


@pytest.fixture(params=sorted(SHAPES))
def shape(request: pytest.FixtureRequest) -> ShapeName:
    name: ShapeName = request.param
    return name


def model(grader: Grader, shape: ShapeName) -> Model:
    url = grader.origin + PATHS[shape]
    return Model(provider="llmock", name="tiny", shape=shape, base_url=url)


async def asked(
    grader: Grader, shape: ShapeName, request: Request | None = None, limits: Limits | None = None
) -> list[Event]:
    """The events of one call."""

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds)
        grader.rests()  # else a call whose end it has not seen is another one to it

    # The second wait is so much longer than the first that a busy machine does not even them out.
    chances = chain([0.3], repeat(0.99))
    settings = CallSettings(limits=limits or Limits(), random=lambda: next(chances), sleep=sleep)
    request = request or Request(transcript=HI)
    events = stream(model(grader, shape), request, NoKey(), settings)
    async with aclosing(events):
        return [event async for event in events]


async def answered(grader: Grader, shape: ShapeName, limits: Limits | None = None) -> list[Event]:
    """The events of the last call, which is made again as the loop does it."""
    for _ in range(LOST_ATTEMPTS):
        events = await asked(grader, shape, limits=limits)
        last = events[-1]
        if not (isinstance(last, Fault) and last.transient):
            return events
        limits = None
        grader.rests()
    return await asked(grader, shape)


def text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_an_answer_is_read(grader: Grader, shape: ShapeName) -> None:
    grader.plays(REPLY)
    events = await asked(grader, shape)

    assert text(events) == WORDS.strip()
    assert isinstance(events[-1], Finish)
    assert events[-1].reason == "stop"
    assert events[-1].usage.input
    assert grader.verdict()["attempts"] == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_may_go_well_is_tried_again(
    grader: Grader, shape: ShapeName, status: int
) -> None:
    grader.plays({"type": "fail", "status": status, "times": 2}, REPLY)

    assert text(await asked(grader, shape)) == WORDS.strip()
    assert grader.verdict()["attempts"] == 3


@pytest.mark.parametrize("wait_s", [0.2, 1])
async def test_what_it_asks_us_to_wait_is_waited(
    grader: Grader, shape: ShapeName, wait_s: float
) -> None:
    grader.plays({"type": "fail", "status": 429, "retry_after": wait_s, "times": 2}, REPLY)

    assert text(await asked(grader, shape)) == WORDS.strip()
    assert grader.verdict()["attempts"] == 3


async def test_an_outage_ends_in_a_fault(grader: Grader, shape: ShapeName) -> None:
    grader.plays({"type": "fail", "status": 503, "times": None})
    events = await asked(grader, shape)

    assert isinstance(events[-1], Fault)
    assert events[-1].kind == "overloaded"
    assert grader.verdict()["attempts"] == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_cannot_go_well_is_not_tried_again(
    grader: Grader, shape: ShapeName, status: int
) -> None:
    grader.plays({"type": "fail", "status": status, "times": None})
    events = await asked(grader, shape)

    assert isinstance(events[-1], Fault)
    assert events[-1].status == status
    assert not events[-1].transient
    assert grader.verdict()["attempts"] == 1


@pytest.mark.parametrize("after_chunks", range(6))
@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
async def test_a_stream_that_breaks_is_no_answer(
    grader: Grader, shape: ShapeName, kind: str, after_chunks: int
) -> None:
    fault = {"type": "stream_fault", "kind": kind, "after_chunks": after_chunks, "times": None}
    grader.plays(fault, REPLY)
    events = await asked(grader, shape)

    assert isinstance(events[-1], Fault), events[-1]
    assert events[-1].transient
    assert WORDS.startswith(text(events))


@pytest.mark.parametrize("after_chunks", range(6))
@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
async def test_after_a_stream_that_broke_the_answer_is_whole(
    grader: Grader, shape: ShapeName, kind: str, after_chunks: int
) -> None:
    # Longer than what is on its way: only so the server sees that its reader goes.
    long_reply = {"type": "reply", "text": WORDS * 20_000, "times": 1}
    fault = {"type": "stream_fault", "kind": kind, "after_chunks": after_chunks}
    grader.plays(fault, long_reply if kind == "malformed" else REPLY, REPLY)

    assert text(await answered(grader, shape)) == WORDS.strip()
    assert grader.verdict()["attempts"] == 2


async def test_a_stall_is_not_sat_through(grader: Grader, shape: ShapeName) -> None:
    stall = {"type": "stream_fault", "kind": "stall", "after_chunks": 4, "stall_seconds": 30}
    grader.plays(stall, REPLY)
    events = await answered(grader, shape, limits=Limits(read_s=1))

    assert text(events) == WORDS.strip()
    grader.verdict()


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"Rain in {city}."


async def test_a_call_and_its_result_are_a_conversation(grader: Grader, shape: ShapeName) -> None:
    call: dict[str, Any] = {"name": "weather", "arguments": {"city": "Bergen, quite long a name"}}
    grader.plays({"type": "reply", "tool_calls": [call]}, REPLY)
    who = model(grader, shape)
    prepared = prepare(who, HI, Tools([weather]))
    events = await asked(grader, shape, prepared.request)
    calls = [event for event in events if isinstance(event, ToolCall)]
    answer = Answer(who)
    for event in events:
        answer.add(event)
    message = answer.message()

    assert message
    assert [weather.validate(each.arguments) for each in calls]
    assert calls[0].name == "weather"
    results = Results((Result(calls[0].id, "weather", (Text("Rain."),)),))
    prepared = prepare(who, (*HI, message, results), Tools([weather]))
    assert text(await asked(grader, shape, prepared.request)) == WORDS.strip()
    assert grader.verdict()["attempts"] == 2


async def test_broken_arguments_do_not_validate(grader: Grader, shape: ShapeName) -> None:
    grader.plays({"type": "tool_fault", "kind": "malformed_arguments"})
    prepared = prepare(model(grader, shape), HI, Tools([weather]))
    events = await asked(grader, shape, prepared.request)
    calls = [event for event in events if isinstance(event, ToolCall)]

    assert isinstance(events[-1], Finish | Fault)
    assert all(not hasattr(weather.validate(each.arguments), "value") for each in calls)
    grader.verdict()
