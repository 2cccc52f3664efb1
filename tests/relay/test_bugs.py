"""What happens when something of ours raises in a callback: the stream ends, and says why."""

import asyncio
from typing import Any

import pytest

from turnwire.core.dialect import Ask
from turnwire.core.limits import Limits
from turnwire.core.turn import Act, Turn
from turnwire.dialects import DIALECTS
from turnwire.relay.budget import Budget
from turnwire.relay.client import Message
from turnwire.relay.sockets import ClientSocket
from turnwire.relay.stream import Call, Stream


class BugError(Exception):
    """Nobody expects it."""


class Buggy(Turn):
    """Raises where it is told to."""

    bug = ""

    def tick(self, now: float) -> Act:
        return self._or("tick", super().tick(now))

    def client_left(self, now: float, *, stalled: bool = False) -> Act:
        return self._or("client_left", super().client_left(now, stalled=stalled))

    def _or(self, where: str, act: Act) -> Act:
        if where == self.bug:
            raise BugError
        return act


class Dialler:
    """Never gets through, or has a bug itself."""

    def __init__(self, *, is_buggy: bool) -> None:
        self.budget = Budget()
        self._is_buggy = is_buggy

    async def dial(self, *_: object) -> Any:
        if self._is_buggy:
            raise BugError
        await asyncio.Event().wait()


async def send(_: Message) -> None: ...


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def hang_up() -> Message:
    return {"type": "http.disconnect"}


@pytest.mark.parametrize("where", ["dial", "tick", "client_left", "socket"])
async def test_a_bug_ends_the_stream(where: str) -> None:
    turn = Buggy(DIALECTS["v2"].prompt(Ask(text="hi", prompt_id="p")), Limits())
    turn.bug = {"socket": "client_left"}.get(where, where)
    socket = ClientSocket(asyncio.Transport()) if where == "socket" else None
    if socket is not None:
        socket.is_heard = True
    stream = Stream(
        turn,
        send=send,
        receive=hang_up if where == "client_left" else never,
        headers=[],
        dial_s=0.05 if where == "tick" else 30,
        stall_s=30,
        client_socket=socket,
    )
    running = asyncio.ensure_future(
        stream.run(
            Dialler(is_buggy=where == "dial"),  # type: ignore[arg-type]
            Call("ws://127.0.0.1:1/", {}),
            refusable=lambda: False,
        )
    )
    await asyncio.sleep(0)
    if socket is not None:
        socket.gone()

    with pytest.raises(BugError):
        await asyncio.wait_for(running, 10)
