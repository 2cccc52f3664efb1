"""A dial that is given up keeps nothing of what its connection brought."""

import asyncio
from typing import Any

from relay.agent.test_websocket_fast_path import Heard, Wire, connected
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.agent.websocket import WebSocketTransport
from turnwire.relay.memory_budget import Budget

URL = "ws://127.0.0.1:1/x"


class Line(Wire):
    def abort(self) -> None:
        self.closing = True


class Connected(Dialler):
    """Is connected at once, and nobody has been told so yet."""

    line: Line

    async def _connect(self, connection: Any, *_: Any) -> Any:
        self.line = Line()
        connection().connection_made(self.line)
        await asyncio.get_running_loop().create_future()


async def test_a_connection_that_was_made_meanwhile_is_closed() -> None:
    """uvloop closes its socket alone, and tells nobody: what came would wait for the collector."""
    dialler, hold = Connected(user_timeout_s=10), Budget().holder("u1").reserve()
    transport = WebSocketTransport(dialler, frame_bytes=1_000)
    dialling = asyncio.create_task(transport.open(AgentTarget(URL, {}), Heard(), hold))
    await asyncio.sleep(0)
    assert not dialler.line.closing

    dialling.cancel()
    await asyncio.wait([dialling])

    assert dialling.cancelled()
    assert dialler.line.closing


class Closed(Wire):
    """As uvloop's is that was closed with its dial: nothing may be written to it."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self.closing:
            raise RuntimeError("unable to perform operation; the handler is closed")
        super().write(data)

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None: ...


def test_nothing_is_said_on_a_connection_that_is_closed_with_its_dial() -> None:
    wire = Closed()
    upstream, _, _ = connected(wire)
    wire.closing = True

    upstream.abort()
