"""A connection to an agent without a stream, and a listener that only counts what it gets."""

from collections.abc import Iterator, Sequence
from typing import Any

from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.port import AgentTarget, Connection
from turnwire.relay.agent.websocket import WebSocketTransport
from turnwire.relay.agent.websocket_connection import WebSocketConnection
from turnwire.relay.memory_budget import Budget


class Counting:
    """A listener."""

    def __init__(self) -> None:
        self.opened = 0
        self.left = 0
        self.refused: list[DialFailure] = []

    def agent_opened(self, _: Connection) -> None:
        self.opened += 1

    def agent_refused(
        self, why: DialFailure, _status: int | None, _retry_after_s: float | None
    ) -> None:
        self.refused.append(why)

    def agent_frames(self, _: Sequence[bytes]) -> None: ...

    def agent_frame_begun(self) -> None: ...

    def agent_long_frame(self, _: bytes) -> Iterator[None]:
        yield from ()

    def agent_left(self, _why: DisconnectReason, _code: int | None) -> None:
        self.left += 1


async def dialled(
    dialler: Dialler, url: str, listener: Counting | None = None, **request: Any
) -> WebSocketConnection:
    """A connection that is up; its handshake may be still under way."""
    transport = WebSocketTransport(dialler, frame_bytes=1000)
    target = AgentTarget(url, **{"headers": {}, **request})
    reservation = Budget().holder("u1").reserve()
    return await transport.open(target, listener or Counting(), reservation)
