"""What happens when something of ours raises in a callback: the stream ends, and says why."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ClassVar

import pytest

from gateway.waiting import PATIENCE_S
from turnwire.core import steps
from turnwire.core.requests import PromptRequest, StopRequest
from turnwire.core.turn.inputs import ClientLeft, Drain, Input, Progressed, Tick, Unblocked
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.port import AgentTarget, Connection, KeepsNoConnection, Scheme
from turnwire.relay.agent_call import OperationCall
from turnwire.relay.client_writer import Message
from turnwire.relay.memory_budget import Budget
from turnwire.relay.registry import RequestRegistry
from turnwire.relay.rounds import Rounds
from turnwire.relay.tcp import ClientSocket
from turnwire.relay.turn_stream import Stream


class BugError(Exception):
    """Nobody expects it."""


class Buggy(Turn):
    """Raises after the input that it is told."""

    bug: type[Input] | None = None

    def handle(self, turn_input: Input, now: float) -> Output:
        act = super().handle(turn_input, now)
        if type(turn_input) is self.bug:
            raise BugError
        return act


class NoWay(KeepsNoConnection):
    """A transport that never gets through, or has a bug itself."""

    name: ClassVar = "no-way"
    scheme: ClassVar = Scheme("no")
    status_is_answer: ClassVar = False
    is_buggy = False

    def __init__(self, dialler: Dialler, *, frame_bytes: int) -> None: ...

    @classmethod
    def check(cls, _: object) -> None: ...

    async def open(self, *_: object) -> Connection:
        if self.is_buggy:
            raise BugError
        await asyncio.Event().wait()
        raise AssertionError


NOBODY = AgentTarget("no://nobody/", {})


def no_way(*, is_buggy: bool) -> NoWay:
    transport = NoWay(Dialler(user_timeout_s=1), frame_bytes=1)
    transport.is_buggy = is_buggy
    return transport


async def send(_: Message) -> None: ...


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def hang_up() -> Message:
    return {"type": "http.disconnect"}


def new_stream(bug: type[Input] | None, **options: Any) -> Stream:
    turn = Buggy(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id="p")),
        Limits(drain_s=0.1),
        UIMessageStream(),
    )
    turn.bug = bug
    return Stream(
        turn,
        **{
            "send": send,
            "receive": never,
            "headers": [],
            "dial_s": 30,
            "stall_s": 30,
            "holder": Budget().holder("u1"),
            **options,
        },
    )


async def run(stream: Stream, *, is_buggy: bool = False) -> None:
    await stream.run(no_way(is_buggy=is_buggy), NOBODY, refusable=lambda: False)


@pytest.mark.parametrize(
    ("where", "bug"),
    [("dial", None), ("tick", Tick), ("client_left", ClientLeft), ("socket", ClientLeft)],
)
async def test_a_bug_ends_the_stream(where: str, bug: type[Input] | None) -> None:
    socket = ClientSocket(asyncio.Transport()) if where == "socket" else None
    if socket is not None:
        socket.is_request_complete = True
    stream = new_stream(
        bug,
        receive=hang_up if where == "client_left" else never,
        client_socket=socket,
    )
    running = asyncio.ensure_future(run(stream, is_buggy=where == "dial"))
    await asyncio.sleep(0)
    if where == "tick":
        stream.drain()  # after `drain_s` there is a tick
    if socket is not None:
        socket.gone()

    with pytest.raises(BugError):
        await asyncio.wait_for(running, PATIENCE_S)


@pytest.mark.parametrize(
    ("bug", "told"),
    [
        (Tick, Stream.wake),
        (Progressed, Stream.client_progressed),
        (Unblocked, Stream.client_unblocked),
    ],
)
async def test_so_does_one_of_which_nobody_would_hear(
    bug: type[Input], told: Callable[[Stream], None]
) -> None:
    stream = new_stream(bug)
    running = asyncio.ensure_future(run(stream))
    await asyncio.sleep(0)
    told(stream)

    with pytest.raises(BugError):
        await asyncio.wait_for(running, PATIENCE_S)


async def test_an_end_that_cannot_be_written_is_a_bug_too() -> None:
    async def broken(_: Message) -> None:
        raise BugError

    stream = new_stream(None, send=broken)
    running = asyncio.ensure_future(run(stream))
    await asyncio.sleep(0)
    stream.drain()

    with pytest.raises(BugError):
        await asyncio.wait_for(running, PATIENCE_S)
    assert stream.turn.outcome is Outcome.DRAINING


async def test_one_that_cannot_drain_keeps_no_other_from_it() -> None:
    streams = RequestRegistry(most=0, most_per_user=0)
    ours = [new_stream(Drain if i == 1 else None) for i in range(3)]
    with ExitStack() as stack:
        running = []
        for stream in ours:
            stack.enter_context(streams.register(stream))
            running.append(asyncio.ensure_future(run(stream)))
        await asyncio.sleep(0)
        streams.drain()
        found = await asyncio.wait_for(asyncio.gather(*running, return_exceptions=True), PATIENCE_S)

    assert [type(one) for one in found] == [type(None), BugError, type(None)]
    assert [stream.turn.outcome for stream in ours] == [Outcome.DRAINING, None, Outcome.DRAINING]


async def test_a_bug_of_the_dial_ends_an_operation() -> None:
    stop = DIALECTS["v2"].stop(StopRequest(user_id="u1", init_s=30, verdict_s=30))
    call = OperationCall(stop, Budget().holder("u1"), Rounds())

    with pytest.raises(BugError):
        await asyncio.wait_for(
            call.run(no_way(is_buggy=True), NOBODY, steps.done, dial_s=30), PATIENCE_S
        )
