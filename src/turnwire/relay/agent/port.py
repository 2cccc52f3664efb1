"""The port between a stream and a transport: how frames travel between us and an agent.

A `Transport` opens connections, one for each request. A `Connection` carries frames; what happens
to it goes to its `Listener`. A new transport is one module beside this one and one entry in
`relay.agent.transports`: what uses a connection knows this module alone.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from turnwire.core.connect import ConnectRequest
from turnwire.relay.agent.dialer import Address, Dialler
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.memory_budget import Reservation


class AgentTarget(Struct, frozen=True):
    """Where to connect, and the request that opens the connection (`core.connect`)."""

    url: str
    headers: Mapping[str, str]
    """All of them: the dialect's, and those that say who asks."""
    method: str = "GET"
    body: bytes = b""
    offered_protocols: tuple[str, ...] = ()
    accept: tuple[str, ...] = ("text/event-stream",)


class Connection(Protocol):
    """One connection to an agent. After `close`, and after its end, all calls do nothing."""

    def send(self, frames: Sequence[bytes]) -> None:
        """Send text frames. `unwritten_bytes` counts what the agent does not read of them."""
        ...

    @property
    def brings_frames(self) -> bool:
        """Whether `agent_frames` follows `agent_opened` at once: the agent's yes came with them."""
        ...

    @property
    def unwritten_bytes(self) -> int:
        """Bytes of ours that the kernel has not taken."""
        ...

    def pause(self) -> None:
        """Stop reading until `resume`: the listener gets no frames meanwhile."""
        ...

    def resume(self) -> None:
        """Read on."""
        ...

    def may_open_late(self) -> bool:
        """The time limit of the dial has passed, and the agent has not accepted.

        True: the request is on its way, and the agent may take longer. From now on the connection
        counts as open, and `agent_opened` is not called. `agent_refused` may still be.
        """
        ...

    def finish(self) -> None:
        """Close, since the agent has told the end of its turn: nothing needs to be aborted.

        As `close`, but what the agent still sends is read and dropped for a while, if a later
        connection can use that.
        """
        ...

    def close(self) -> None:
        """Close without waiting, after what was sent. The listener is not called any more."""
        ...


class Listener(Protocol):
    """Receives the events of one connection. All calls come from the event loop."""

    def agent_opened(self, connection: Connection, /) -> None:
        """The agent accepted the connection: frames may be sent."""
        ...

    def agent_refused(
        self, why: DialFailure, status: int | None, retry_after_s: float | None, /
    ) -> None:
        """The connection did not open.

        `status` is the agent's HTTP status, if it sent one. `retry_after_s` is how long it asks
        to be left alone, in seconds, if it does.
        """
        ...

    def agent_frames(self, frames: Sequence[bytes], /) -> None:
        """The complete text frames of one socket read, or of a slice of it, in valid UTF-8."""
        ...

    def agent_long_frame(self, frame: bytes, /) -> Iterator[None]:
        """Process a frame of more than `LONG_BYTES`, one short step per iteration.

        Raises:
            TooManyError: the frame has too many values, and is not processed.

        """
        ...

    def agent_frame_begun(self) -> None:
        """A part of a long frame came, and the frame is incomplete."""
        ...

    def agent_left(self, why: DisconnectReason, code: int | None, /) -> None:
        """The connection is lost or unusable. Called at most once, and never after `close`.

        `code` is the transport's own number for the end, for the log; None: there is none.
        """
        ...


class Scheme(Struct, frozen=True):
    """The scheme of a transport's URLs. With TLS it has an `s` more."""

    name: str
    port: int = 80
    """The port of a URL that names none, without TLS and with it."""
    tls_port: int = 443
    needs_session: bool = True
    """Whether a URL must hold the session's id: nothing else of a connection says it."""

    @property
    def with_tls(self) -> str:
        return f"{self.name}s"


class Transport(Protocol):
    """A way to reach agents. A process has one object of it, and it keeps no state of a request."""

    name: ClassVar[str]
    scheme: ClassVar[Scheme]
    status_is_answer: ClassVar[bool]
    """Whether a status of the agent's server (`DialFailure.STATUS`) answers the request itself.

    False: it is about the connection alone, and the request would have come after it."""

    def __init__(self, dialler: Dialler, *, frame_bytes: int) -> None:
        """`frame_bytes`: the size above which a frame ends its connection."""
        ...

    @classmethod
    def check(cls, request: ConnectRequest | AgentTarget, /) -> None:
        """Check that such a request can open a connection of this transport.

        The start of the gateway tries the requests of its dialect by this.

        Raises:
            BadConnectRequestError: it cannot, for example since no connection begins with a body.

        """
        ...

    def close(self) -> None:
        """Close what is kept between connections. Called when the gateway stops."""
        ...

    def open_kept(
        self, target: AgentTarget, listener: Listener, reservation: Reservation, /
    ) -> Connection | None:
        """Send the request on a connection that was kept, in this very step of the loop.

        The listener is not called before this returns. None: no connection to this agent is kept.

        Raises:
            BadConnectRequestError: as `check`.

        """
        ...

    async def open(
        self, target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> Connection:
        """Dial, and send the request. What becomes of it goes to the `listener`.

        `reservation` counts incomplete frames. If it is cancelled, the connection is closed.

        Raises:
            DialError: DNS, TCP or TLS failed.
            BadConnectRequestError: as `check`, before the dial.

        """
        ...


class KeepsNoConnection:
    """A base of transports that keep nothing between two requests."""

    __slots__ = ()

    def open_kept(self, _: AgentTarget, _listener: Listener, _reservation: Reservation) -> None:
        """Return None: no connection is kept."""

    def close(self) -> None:
        """Do nothing: no connection is kept."""


def no_target(_: ConnectRequest) -> AgentTarget:
    """What a turn dials next that never asks for another connection."""
    raise NotImplementedError


@functools.lru_cache(maxsize=1024)
def address_of(url: str, scheme: Scheme) -> Address:
    """Return where a URL of this scheme leads. Cached: most URLs are dialled again."""
    parts = urlsplit(url)
    is_tls = parts.scheme == scheme.with_tls
    return Address(
        parts.hostname or "", parts.port or (scheme.tls_port if is_tls else scheme.port), is_tls
    )
