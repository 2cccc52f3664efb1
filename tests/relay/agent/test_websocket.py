"""The transport `websocket`: it dials, and closes what came of a dial that was given up."""

import asyncio
from typing import Any

from support.open_websocket import (
    URL,
    MemoryTransport,
    RecordingListener,
)
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.agent.websocket import WebSocketTransport
from turnwire.relay.memory_budget import Budget


class AbortableTransport(MemoryTransport):
    def abort(self) -> None:
        self.closing = True


class ConnectedDialler(Dialler):
    """Is connected at once, and nobody has been told so yet."""

    transport: AbortableTransport

    async def _connect(self, connection: Any, *_: Any) -> Any:
        self.transport = AbortableTransport()
        connection().connection_made(self.transport)
        await asyncio.get_running_loop().create_future()


async def test_a_connection_that_was_made_meanwhile_is_closed() -> None:
    """uvloop closes its socket alone, and tells nobody: what came would wait for the collector."""
    dialler, reservation = ConnectedDialler(user_timeout_s=10), Budget().holder("u1").reserve()
    transport = WebSocketTransport(dialler, frame_bytes=1_000)
    dialling = asyncio.create_task(
        transport.open(AgentTarget(URL, {}), RecordingListener(), reservation)
    )
    await asyncio.sleep(0)
    assert not dialler.transport.closing

    dialling.cancel()
    await asyncio.wait([dialling])

    assert dialling.cancelled()
    assert dialler.transport.closing
