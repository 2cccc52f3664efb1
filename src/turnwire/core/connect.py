"""What a protocol or an operation asks of the agent's server, before a connection is open."""

from collections.abc import Mapping

from msgspec import Struct


class ConnectRequest(Struct, frozen=True, kw_only=True):
    """The request that opens a connection.

    The caller adds what is the same on every wire: the agent's URL, and the headers that say
    who asks. A transport may open its connections in one way alone: then the fields that it has no
    use for keep their defaults.
    """

    method: str = "GET"
    path: str = ""
    """Added to the path of the agent's URL, percent-encoded; it begins with a slash."""
    headers: Mapping[str, str] = {}
    """The dialect's own headers, with names in lower case. Where the caller sets the same name,
    the caller's value is sent."""
    body: bytes = b""
    offered_protocols: tuple[str, ...] = ()
    """Names of protocols to offer to the server, the best one first."""
