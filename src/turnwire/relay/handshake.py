"""The opening handshake with an agent: the usual one, without the library that knows all of them.

A request is made from what the library makes for the URL, and an answer that is a plain yes is
read at once. Every other answer is the library's to read, and to judge. Held equal to it by
tests/relay/test_handshake.py.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

_LONGEST: Final = 4096
"""Of a head that is read here, in bytes: below all of the library's limits."""

_MOST_FIELDS: Final = 32

_HEAD: Final = re.compile(
    rb"HTTP/1\.1 101 [\t -~]*(?:\r\n[-!#$%&'*+.^_`|~0-9a-zA-Z]+:[\t -~]*)*\r\n\r\n"
)
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_NONE: Final = b""
_ACCEPT: Final = b"A" * 27 + b"="


class Template(Struct, frozen=True):
    """A request but for its key, and for the fields that come last."""

    before: bytes
    after: bytes

    def request(self, key: str, headers: Mapping[str, str]) -> bytes:
        """The whole request.

        Raises:
            ValueError: a value that no field can have.

        """
        values = "".join(headers.values())
        is_usual = values.isascii() and values.isprintable()  # a token is long, and this is C
        if not is_usual and _VALUE.fullmatch(values) is None:
            raise ValueError("a header's value that is none")
        more = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        return b"%b%b%b%b\r\n" % (self.before, key.encode(), self.after, more.encode("latin-1"))


def template(request: bytes, key: str) -> Template:
    """What stays of a request that was made with this key."""
    before, _, after = request.partition(key.encode())
    return Template(before, after.removesuffix(b"\r\n"))


def yes(data: bytes, accept: str, subprotocols: tuple[str, ...]) -> int:
    """How long the head is, if it is a yes beyond doubt; else 0. `accept` is what the key asks."""
    end = data.find(b"\r\n\r\n", 0, _LONGEST)
    if end < 0:
        return 0
    before, _, after = data[: end + 4].partition(accept.encode())
    return end + 4 if _is_yes(before, after, subprotocols) else 0


@functools.lru_cache(maxsize=64)
def _is_yes(before: bytes, after: bytes, subprotocols: tuple[str, ...]) -> bool:
    """Whether a head is a yes that has the right proof of the key between these two.

    An agent's answers differ in that proof alone, and once a second in their date, so each is read
    once. What stands for the proof is of its length and of its letters.
    """
    head = before + _ACCEPT + after
    if head.count(_ACCEPT) != 1 or _HEAD.fullmatch(head) is None:
        return False
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    fields: dict[bytes, bytes] = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        fields[name.lower()] = value.strip(b" \t")
    return (
        len(fields) == len(lines) - 1 <= _MOST_FIELDS  # each of them once
        and fields.get(b"upgrade", _NONE).lower() == b"websocket"
        and fields.get(b"connection", _NONE).lower() == b"upgrade"
        and fields.get(b"sec-websocket-accept") == _ACCEPT
        and b"sec-websocket-extensions" not in fields
        and _is_offered(fields.get(b"sec-websocket-protocol"), subprotocols)
    )


def _is_offered(taken: bytes | None, subprotocols: Sequence[str]) -> bool:
    return taken is None or taken.decode() in subprotocols
