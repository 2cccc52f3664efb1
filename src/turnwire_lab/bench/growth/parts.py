"""The parts of the model: a price each, where it is measured, and where it is checked."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct


class Part(Struct, frozen=True, kw_only=True):
    """What one of something takes: the same, says the model, however many there are."""

    what: str
    load: str
    """What there are so many of."""
    figure: str
    """Of a round."""
    unit: str
    price_at: int
    checked_at: tuple[int, int]

    def case(self, count: int) -> str:
        return f"{self.load} {count}"

    def row(self, count: int) -> str:
        """The name of a measured point in the table."""
        return f"{self.what}, {count:,} {self.load}"


PACED: Final = "streams with 5 deltas/s"
CLIENTS: Final = "clients"
OPEN: Final = "open streams"
LOGGED: Final = "streams with a turn log"

PACED_RATE: Final = 5
"""Deltas a second: as if one stream in ten had 50, and the others none."""
LOGGED_RATE: Final = 50

_STREAMS: Final = (100, 1_000)
_CLIENTS: Final = (32, 100)


def _part(
    what: str, load: str, figure: str, unit: str, price_at: int, checked_at: tuple[int, int]
) -> Part:
    return Part(
        what=what, load=load, figure=figure, unit=unit, price_at=price_at, checked_at=checked_at
    )


FRAME: Final = _part("CPU of a frame", PACED, "us_per_frame", "µs", 300, _STREAMS)
WIRE: Final = _part(
    "Bytes on both networks for a frame", PACED, "wire_bytes_per_frame", "B", 300, _STREAMS
)
TURN: Final = _part("CPU of a turn of five deltas", CLIENTS, "us_per_turn", "µs", 16, _CLIENTS)
LINES: Final = _part("Log lines of a turn", CLIENTS, "log_lines_per_turn", "", 16, _CLIENTS)
LINE_BYTES: Final = _part("Bytes of them", CLIENTS, "log_bytes_per_turn", "B", 16, _CLIENTS)
LINGERING: Final = _part(
    "Ports that a turn leaves in TIME_WAIT", CLIENTS, "ports_per_turn", "", 16, _CLIENTS
)
MEMORY: Final = _part("Memory of an open stream", OPEN, "kb_per_stream", "KB", 300, _STREAMS)
DESCRIPTORS: Final = _part(
    "Descriptors of a stream", OPEN, "descriptors_per_stream", "", 300, _STREAMS
)
DIALLED: Final = _part(
    "Sockets to the agent for a stream", OPEN, "dialled_per_stream", "", 300, _STREAMS
)
BASE: Final = _part("Memory of a process without streams", OPEN, "base_mb", "MB", 300, _STREAMS)
SERIES: Final = _part("Series of metrics of a process", OPEN, "series", "", 300, _STREAMS)
CALLS: Final = _part(
    "Commands in Redis a second for a stream with 50 deltas/s",
    LOGGED,
    "redis_calls_per_stream_s",
    "/s",
    10,
    _CLIENTS,
)
REDIS_US: Final = _part(
    "CPU of Redis a second for such a stream", LOGGED, "redis_us_per_stream_s", "µs", 10, _CLIENTS
)
PARTS: Final[Sequence[Part]] = (
    FRAME,
    TURN,
    MEMORY,
    BASE,
    DESCRIPTORS,
    DIALLED,
    LINGERING,
    WIRE,
    CALLS,
    REDIS_US,
    LINES,
    LINE_BYTES,
    SERIES,
)


def counts_of(load: str) -> Sequence[int]:
    """The points of a load: those of the checks, and that of the price."""
    parts = [part for part in PARTS if part.load == load]
    return sorted({count for part in parts for count in (part.price_at, *part.checked_at)})
