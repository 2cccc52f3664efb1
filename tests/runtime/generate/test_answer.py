import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from gateway.waiting import PATIENCE_S
from turnwire_agent.generate.answer import KEEPALIVE, Answer
from turnwire_agent.generate.parts import Part

Message = dict[str, Any]


class Wire:
    """The two functions of ASGI."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.received = 0
        self.gone = asyncio.Event()
        self.stuck = False

    async def receive(self) -> Message:
        self.received += 1
        if self.received == 1:
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if self.stuck:
            await asyncio.Event().wait()
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(each.get("body", b"") for each in self.sent)


async def answered(
    wire: Wire, parts: AsyncGenerator[Part, None], ended: Callable[[bool], None], **times: float
) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await Answer(parts, ended, **times)({}, wire.receive, wire.send)


async def test_silence_is_broken_by_comments_and_only_silence() -> None:
    async def parts() -> AsyncGenerator[Part, None]:
        yield {"n": 1}
        await asyncio.sleep(0.1)
        yield {"n": 2}

    wire, outcomes = Wire(), list[bool]()
    await answered(wire, parts(), outcomes.append, keepalive_s=0.03)

    first, _, rest = wire.body.partition(b"\n\n")
    assert first == b'data: {"n":1}'
    assert rest.startswith(KEEPALIVE)
    assert rest.endswith(KEEPALIVE + b'data: {"n":2}\n\n')
    assert wire.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    assert outcomes == [True]

    wire = Wire()
    await answered(wire, parts(), outcomes.append)
    assert KEEPALIVE not in wire.body


async def test_the_parts_are_closed_when_the_client_goes() -> None:
    wire, outcomes = Wire(), list[bool]()
    closed = False

    async def parts() -> AsyncGenerator[Part, None]:
        nonlocal closed
        yield {}
        wire.gone.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed = True

    await answered(wire, parts(), outcomes.append)

    assert closed
    assert outcomes == [False]


async def test_a_client_that_takes_nothing_is_gone() -> None:
    wire, outcomes = Wire(), list[bool]()
    closed = False

    async def parts() -> AsyncGenerator[Part, None]:
        nonlocal closed
        wire.stuck = True
        try:
            yield {}
        finally:
            closed = True

    await answered(wire, parts(), outcomes.append, send_s=0.02)

    assert closed
    assert outcomes == [False]


async def test_a_mistake_of_ours_is_not_hidden() -> None:
    async def parts() -> AsyncGenerator[Part, None]:
        yield {}
        raise ZeroDivisionError

    outcomes = list[bool]()
    with pytest.raises(ZeroDivisionError):
        await answered(Wire(), parts(), outcomes.append)

    assert outcomes == [False]
