"""Why a connection to the agent did not open, and why one that was open is of no more use."""

import enum


class DialFailure(enum.Enum):
    """Why a connection did not open. The value is a metric label."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    HANDSHAKE = "handshake"
    REDIRECT = "redirect"
    STATUS = "status"


class Leaving(enum.Enum):
    """The value is a word of the log (`agent_left`)."""

    CLOSED = "closed"
    """The agent closed the WebSocket; the close code says more."""
    LINE_LOST = "line_lost"
    """The connection ended without a goodbye: a crash, a reset, a proxy's limit, a lost host."""
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    TOO_BIG = "too_big"
    """A frame of more than `TURNWIRE_FRAME_BYTES`."""
    BROKEN = "broken"
    """What is no WebSocket."""
    UNSOUND = "unsound"
    """What no agent that means well sends: control frames or fragments in runs, or so many values
    that they would take the process's memory."""
    STALLED = "stalled"
    """It stood still for `TURNWIRE_STALL_S` in the midst of a frame of the agent's, or of ours."""
    NO_ROOM = "no_room"
    """`TURNWIRE_HELD_BYTES` is spent; of the user who holds most, this is the largest stream."""
