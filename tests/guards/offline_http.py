"""The gateway without sockets, before an agent that speaks AG-UI over one kept connection."""

import asyncio
import re
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from aiohappyeyeballs import AddrInfoType

from guards.offline import Offline, Says
from support import ag_ui_frames as f
from support.http_dialect import CHUNKED, END, chunk
from turnwire.relay.agent.dialer import AgentSocket, Dialler, Socket

DELTA: Final = f.text("T0000000000000000ab", "message-0000000000000001")
NOISE: Final = "x" * 10_000
NOISY: Final = (
    f.event("RAW", event={"data": NOISE}),
    f.text("T0000000000000000ab", "message-0000000000000001", rawEvent={"data": NOISE}),
)
"""A delta as some servers tell it: what is not shown is most of its bytes."""

_RUN_ID: Final = re.compile(rb'"runId":"([^"]*)"')


class HttpWire(asyncio.Transport):
    """A connection that stays open, and says what it was given for each request."""

    def __init__(self, says: Says, silent: socket.socket) -> None:
        """`silent`: what the pool asks whether there is anything to read."""
        super().__init__()
        self.upstream: AgentSocket | None = None
        self._says = says
        self._socket = silent
        self._reads = deque[bytes]()
        self._is_paused = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        run = _RUN_ID.search(bytes(data))
        assert run is not None, data
        self._reads += self._says(run[1].decode())
        self._go_on()

    def _go_on(self) -> None:
        asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        assert self.upstream is not None
        if self._reads and not self._is_paused:
            self.upstream.data_received(self._reads.popleft())
            self._go_on()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket if name == "socket" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._go_on()

    def abort(self) -> None: ...


class HttpDialler(Dialler):
    """Connects to an `HttpWire`."""

    def __init__(self, says: Says, silent: socket.socket) -> None:
        super().__init__(user_timeout_s=20)
        self._says = says
        self._silent = silent

    async def _connect(
        self,
        connection: Callable[[], Socket],
        host: str,  # noqa: ARG002 (the base's)
        port: int,  # noqa: ARG002
        addresses: list[AddrInfoType],  # noqa: ARG002
        tls: object,  # noqa: ARG002
    ) -> Socket:
        wire = HttpWire(self._says, self._silent)
        wire.upstream = made = connection()
        made.connection_made(wire)
        return made


def runs(*reads: Sequence[bytes]) -> Says:
    """Runs whose frames come in these reads, a chunk each, and their ends with the last read."""

    def says(run_id: str) -> Sequence[bytes]:
        told = [b"".join(map(_chunk, read)) for read in reads]
        told[0] = CHUNKED + _chunk(f.started(run_id)) + told[0]
        told[-1] += _chunk(f.finished(run_id)) + END
        return told

    return says


def _chunk(frame: bytes) -> bytes:
    return chunk(b"data: %b\n\n" % frame)


@contextmanager
def offline(*reads: Sequence[bytes], turn_log: str = "off") -> Iterator[Offline]:
    """A gateway whose agent tells such runs."""
    here, there = socket.socketpair()
    with here, there:
        yield Offline(
            HttpDialler(runs(*reads), here),
            agent_url="http://127.0.0.1:1/{session_id}",
            dialect="ag-ui",
            turn_log=turn_log,
        )
