"""Write the request of one exchange: its head, and its body in pieces."""

import functools
import re
from typing import Final
from urllib.parse import urlsplit

from turnwire.relay.agent.http.socket import HttpSocket
from turnwire.relay.agent.port import AgentTarget

PIECE_BYTES: Final = 65_536
"""Bytes that are written at a time. A shorter body is written with its head."""

PIECES_PER_STEP: Final = 4
"""Pieces that are written before other work of the loop."""

_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS", "TRACE"})
"""Methods whose requests need not say that they have no body."""


class RequestWriter:
    """Writes one request on one socket, as fast as the kernel takes it.

    Raises:
        ValueError: a header value has characters that are not allowed.

    """

    __slots__ = ("_body", "_head")

    def __init__(self, target: AgentTarget) -> None:
        head, body = head_of(target), target.body
        is_short = len(body) <= PIECE_BYTES
        self._head = head + body if is_short else head
        self._body = memoryview(b"" if is_short else body)

    @property
    def remaining_bytes(self) -> int:
        """Bytes that were not given to the socket."""
        return len(self._head) + len(self._body)

    def write(self, socket: HttpSocket) -> bool:
        """Write until the kernel takes no more. True: there is more to write, in the next round."""
        if self._head:
            head, self._head = self._head, b""
            socket.write(head)
        for _ in range(PIECES_PER_STEP):
            if not self._body or socket.is_write_paused:
                return False
            piece, self._body = self._body[:PIECE_BYTES], self._body[PIECE_BYTES:]
            socket.write(piece)
        return len(self._body) > 0 and not socket.is_write_paused


def head_of(target: AgentTarget) -> bytes:
    """Return the head of a request."""
    values = "".join(target.headers.values())
    is_usual = values.isascii() and values.isprintable()  # a fast check in C: tokens are long
    if not is_usual and _VALUE.fullmatch(values) is None:
        raise ValueError("a header's value that is none")
    fields = "".join([f"{name}: {value}\r\n" for name, value in target.headers.items()])
    if target.body or target.method not in _WITHOUT_BODY:
        fields += f"content-length: {len(target.body)}\r\n"
    begin = _begin(target.method, target.url, target.accept)
    return f"{begin}{fields}\r\n".encode("latin-1")


@functools.lru_cache(maxsize=1024)
def _begin(method: str, url: str, accept: tuple[str, ...]) -> str:
    """The request line, and the headers that depend on the URL and the dialect alone."""
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return (
        f"{method} {path} HTTP/1.1\r\n"
        f"host: {parts.netloc}\r\n"
        f"accept: {', '.join(accept)}\r\n"
        "accept-encoding: identity\r\n"
    )
