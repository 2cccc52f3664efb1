"""What a protocol or an operation asks of the agent's server, before a connection is open."""

import functools
import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

RESERVED_HEADERS: Final = frozenset(
    {
        # Who asks, and in which trace.
        *("authorization", "cookie", "user-agent", "x-request-id", "traceparent", "tracestate"),
        # The form of the answer (`ConnectRequest.accept`).
        *("accept", "accept-encoding"),
        # The connection, and the length of the body.
        *("connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "te"),
        *("trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that the gateway or its transport sends. No dialect may set one."""

RESERVED_PREFIXES: Final = ("proxy-", "sec-", "x-turnwire-")
"""How further names of that kind begin."""

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE: Final = re.compile(r"[^\r\n\0]*")
_PATH: Final = re.compile(r"(?:/[!\"$->@-~]*)?")


class BadConnectRequestError(ValueError):
    """A dialect asks for a connection as it may not, or as its transport cannot open one.

    The text is one line, for the author of the dialect.
    """


class ConnectRequest(Struct, frozen=True, kw_only=True):
    """The request that opens a connection.

    The caller adds what is the same on every wire: the agent's URL, and the headers that say
    who asks. A transport may open its connections in one way alone: then the fields that it has no
    use for keep their defaults. No field names another host: the request may have a user's token,
    which is for the server that the operator named. Only `TURNWIRE_AGENT_URL` has that server's
    address.

    Raises:
        BadConnectRequestError: one of the `headers` is reserved, its name is not in lower case, or
            its value has a CR, a LF or a NUL; or the `path` has another form.

    """

    method: str = "GET"
    path: str = ""
    """Added to the path of the agent's URL, percent-encoded and without a query; it is empty, or
    begins with a slash."""
    headers: Mapping[str, str] = {}
    """The dialect's own headers, with names in lower case; none of the reserved ones."""
    body: bytes = b""
    offered_protocols: tuple[str, ...] = ()
    """Names of protocols to offer to the server, the best one first."""
    accept: tuple[str, ...] = ("text/event-stream",)
    """The media types of an answer that the dialect reads, if the transport's answers have one."""

    def __post_init__(self) -> None:
        if self.path and _PATH.fullmatch(self.path) is None:
            raise BadConnectRequestError(
                "the path must begin with a slash, be percent-encoded, and have no query"
            )
        for name, value in self.headers.items():
            _check_name(name)
            if _VALUE.fullmatch(value) is None:  # what follows would be read as another header
                raise BadConnectRequestError(f"the header {name!r} has a CR, a LF or a NUL in it")


@functools.cache  # dialects have few names
def _check_name(name: str) -> None:
    """Check that a dialect may set this header.

    Raises:
        BadConnectRequestError: it may not.

    """
    if is_reserved(name):
        raise BadConnectRequestError(f"a dialect may not set the header {name!r}")
    if _NAME.fullmatch(name) is None:
        raise BadConnectRequestError(f"no name of a header in lower case: {name!r}")


def is_reserved(name: str) -> bool:
    """Whether no dialect may set this header, however its name is spelt."""
    name = name.lower()
    return name in RESERVED_HEADERS or name.startswith(RESERVED_PREFIXES)
