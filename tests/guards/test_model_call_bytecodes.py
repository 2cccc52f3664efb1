"""Bytecodes a chunk of a model's answer, from the HTTP library on, as `test_bytecodes` counts."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import httpx
import pytest

import turnwire_agent
from guards.counting import counted, opcodes
from guards.limits import hold
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.credentials.port import Granted
from turnwire_agent.llm.events import Finish, TextDelta
from turnwire_agent.llm.model import Model, ShapeName
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.sse import EventReader
from turnwire_agent.llm.transcript import Text, User
from turnwire_lab.bench.model_calls.answers import Plan, writes

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the limits are bytecodes of Python 3.11"
)

FEW, MANY = 100, 300
WIRES: Sequence[ShapeName] = ("chat", "messages", "responses")
CALL = (turnwire_agent, httpx)


class Key:
    async def headers(self) -> Granted:
        return Granted({"authorization": "Bearer a-key-of-nobody"}, "1")

    async def refused(self, version: str) -> bool:
        raise AssertionError(version)


class Body(httpx.AsyncByteStream):
    """A body in the pieces in which it is read."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


async def call(wire: ShapeName, plan: Plan) -> int:
    """Bytecodes of a call of a model that gives this answer."""

    def answer(_: httpx.Request) -> httpx.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=headers, stream=Body(writes(wire, plan)))

    model = Model(provider="local", name="large", shape=wire, base_url="http://127.0.0.1:1/v1")
    request = Request(transcript=(User((Text("hello"),)),))
    texts = []

    async def read(settings: CallSettings) -> None:
        event = None
        async with aclosing(stream(model, request, Key(), settings)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    texts.append(event.text)
        assert isinstance(event, Finish)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        with counted(CALL) as count:
            await asyncio.create_task(read(CallSettings(client=client)))
    assert "".join(texts) == plan.text
    return count.opcodes


@pytest.mark.parametrize("wire", WIRES)
async def test_a_chunk(wire: ShapeName) -> None:
    more = await call(wire, Plan(chunks=MANY)) - await call(wire, Plan(chunks=FEW))

    hold(f"model call: bytecodes a chunk of {wire}", more / (MANY - FEW))


async def test_a_chunk_in_a_read_of_its_own() -> None:
    plans = (Plan(chunks=count, together=1) for count in (MANY, FEW))
    many, few = [await call("chat", plan) for plan in plans]

    hold("model call: bytecodes a chunk of chat in a read of its own", (many - few) / (MANY - FEW))


def test_an_event_cut_out_of_an_answer() -> None:
    few, many = (b"data: {}\n\n" * count for count in (FEW, MANY))
    more = opcodes(lambda: EventReader().feed(many), CALL) - opcodes(
        lambda: EventReader().feed(few), CALL
    )

    hold("model call: bytecodes an event cut out", more / (MANY - FEW))
