"""Reasons why a connection to the agent did not open, and why an open one ended."""

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


class DisconnectReason(enum.Enum):
    """Why an open connection ended. The value is a word of the log (`agent_left`)."""

    CLOSED = "closed"
    """The agent closed the WebSocket, with a close code."""
    LINE_LOST = "line_lost"
    """The connection ended without a close: a crash, a reset, a proxy's limit, a lost host."""
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    TOO_BIG = "too_big"
    """A frame of more than `TURNWIRE_FRAME_BYTES`."""
    BROKEN = "broken"
    """The agent sent bytes that violate the WebSocket protocol."""
    UNSOUND = "unsound"
    """The agent sent too many control frames or fragments, or a frame with so many values that they
    would take the process's memory. No correct agent does this."""
    STALLED = "stalled"
    """For `TURNWIRE_STALL_S` there was no progress within a frame of the agent, or of ours."""
    NO_ROOM = "no_room"
    """`TURNWIRE_HELD_BYTES` is spent, and this is the largest stream of the user who holds most."""
