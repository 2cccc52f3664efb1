"""The bounds of a client."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

MIB: Final = 1024 * 1024


class Limits(Struct, frozen=True, kw_only=True):
    """What a client reads and waits for. Sizes are in bytes, times in seconds."""

    line_bytes: int = 16 * MIB
    """Longest line of a stream."""
    event_bytes: int = 16 * MIB
    """Longest data of one event. A file of an answer comes as one event, as a `data:` URL."""
    turn_bytes: int = 256 * MIB
    """All data of one turn over one connection."""
    reply_bytes: int = 64 * MIB
    """Longest body of an answer that is no stream, such as the history."""
    waits_s: Sequence[float] = (0.0, 0.4, 0.8, 1.6, 3.2, 5.0)
    """The wait before each retry; after the last one the client gives up. A connection that brought
    something new begins them anew, at the second one at most."""
    connect_s: float = 10.0
    silence_s: float = 45.0
    """A stream that sends nothing for so long is broken. The gateway sends a keepalive every 15 s
    (`TURNWIRE_KEEPALIVE_S`)."""
