"""Reasons why a connection to the agent did not open, and why an open one ended.

Every transport says it in these words.
"""

import enum


class DialFailure(enum.Enum):
    """Why a connection did not open. The value is a metric label."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    HANDSHAKE = "handshake"
    """The agent's answer to the request is not one of the transport's."""
    REDIRECT = "redirect"
    STATUS = "status"
    CONTENT_TYPE = "content_type"
    """The body of the answer is not one that the dialect reads."""
    CONTENT_ENCODING = "content_encoding"
    """The body of the answer is compressed, which was not asked for."""


class DialError(Exception):
    """DNS, TCP or TLS failed. Later failures go to the `Listener`."""

    def __init__(self, why: DialFailure) -> None:
        super().__init__(why.value)
        self.why = why


class DisconnectReason(enum.Enum):
    """Why an open connection ended. The value is a word of the log (`agent_left`)."""

    CLOSED = "closed"
    """The agent closed the connection as the transport's rules say."""
    LINE_LOST = "line_lost"
    """The connection ended without a close: a crash, a reset, a proxy's limit, a lost host."""
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    TOO_BIG = "too_big"
    """A frame of more than `TURNWIRE_FRAME_BYTES`."""
    BROKEN = "broken"
    """The agent sent bytes that violate the transport's protocol."""
    UNSOUND = "unsound"
    """The agent sent too many control frames or fragments, or a frame with so many values that they
    would take the process's memory. No correct agent does this."""
    STALLED = "stalled"
    """For `TURNWIRE_STALL_S` there was no progress within a frame of the agent, or of ours."""
    NO_ROOM = "no_room"
    """`TURNWIRE_HELD_BYTES` is spent, and this is the largest stream of the user who holds most."""
