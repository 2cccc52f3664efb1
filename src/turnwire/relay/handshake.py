"""The opening handshake with an agent: the usual one, without the library that knows all of them.

A request is made from what the library makes for the URL, and an answer that is a plain yes is
read at once. Every other answer is the library's to read, and to judge. Held equal to it by
tests/relay/test_handshake.py.
"""

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


class Template(Struct, frozen=True):
    """A request but for its key, and for the fields that come last."""

    before: bytes
    after: bytes

    def request(self, key: str, headers: Mapping[str, str]) -> bytes:
        """The whole request.

        Raises:
            ValueError: a value that no field can have.

        """
        for value in headers.values():
            if _VALUE.fullmatch(value) is None:
                raise ValueError("a header's value that is none")
        more = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        return b"%b%b%b%b\r\n" % (self.before, key.encode(), self.after, more.encode("latin-1"))


def template(request: bytes, key: str) -> Template:
    """What stays of a request that was made with this key."""
    before, _, after = request.partition(key.encode())
    return Template(before, after.removesuffix(b"\r\n"))


def yes(data: bytes, accept: str, subprotocols: Sequence[str]) -> int:
    """How long the head is, if it is a yes beyond doubt; else 0. `accept` is what the key asks."""
    end = data.find(b"\r\n\r\n", 0, _LONGEST)
    if end < 0 or _HEAD.fullmatch(data, 0, end + 4) is None:
        return 0
    lines = data[:end].split(b"\r\n")
    fields: dict[bytes, bytes] = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        fields[name.lower()] = value.strip(b" \t")
    is_yes = (
        len(fields) == len(lines) - 1 <= _MOST_FIELDS  # each of them once
        and fields.get(b"upgrade", _NONE).lower() == b"websocket"
        and fields.get(b"connection", _NONE).lower() == b"upgrade"
        and fields.get(b"sec-websocket-accept") == accept.encode()
        and b"sec-websocket-extensions" not in fields
        and _is_offered(fields.get(b"sec-websocket-protocol"), subprotocols)
    )
    return end + 4 if is_yes else 0


def _is_offered(taken: bytes | None, subprotocols: Sequence[str]) -> bool:
    return taken is None or taken.decode() in subprotocols
