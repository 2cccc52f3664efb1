"""The opening handshake with an agent: a fast path for the usual request and response.

A request is made from a template, which the library makes once for each URL
(`Template.request`). A response that accepts beyond doubt is recognized at once
(`accepted_head_length`). The library reads and judges every other response.
tests/relay/agent/test_websocket_handshake.py compares this module with the library.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

_HEAD_BYTES_MAX: Final = 4096
"""Longest response head that is read here: below all limits of the library."""

_FIELDS_MAX: Final = 32

_HEAD: Final = re.compile(
    rb"HTTP/1\.1 101 [\t -~]*(?:\r\n[-!#$%&'*+.^_`|~0-9a-zA-Z]+:[\t -~]*)*\r\n\r\n"
)
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_EMPTY: Final = b""
_PLACEHOLDER: Final = b"A" * 27 + b"="


class Template(Struct, frozen=True):
    """A request without its key and without the headers at its end."""

    before_key: bytes
    after_key: bytes

    def request(self, key: str, headers: Mapping[str, str]) -> bytes:
        """Return the request with this key and these headers.

        Raises:
            ValueError: a header value has characters that are not allowed.

        """
        values = "".join(headers.values())
        is_usual = values.isascii() and values.isprintable()  # a fast check in C: tokens are long
        if not is_usual and _VALUE.fullmatch(values) is None:
            raise ValueError("a header's value that is none")
        fields = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        return b"%b%b%b%b\r\n" % (
            self.before_key,
            key.encode(),
            self.after_key,
            fields.encode("latin-1"),
        )


def template(request: bytes, key: str) -> Template:
    """Make a template of a request that has this key."""
    before_key, _, after_key = request.partition(key.encode())
    return Template(before_key, after_key.removesuffix(b"\r\n"))


def accepted_head_length(data: bytes, accept: str, subprotocols: tuple[str, ...]) -> int:
    """Return the length of the response head, if it accepts the handshake beyond doubt; else 0.

    `accept` is the `Sec-WebSocket-Accept` value that belongs to the key.
    """
    end = data.find(b"\r\n\r\n", 0, _HEAD_BYTES_MAX)
    if end < 0:
        return 0
    before_key, _, after_key = data[: end + 4].partition(accept.encode())
    return end + 4 if _is_accepted(before_key, after_key, subprotocols) else 0


@functools.lru_cache(maxsize=64)
def _is_accepted(before_key: bytes, after_key: bytes, subprotocols: tuple[str, ...]) -> bool:
    """Whether a response head accepts, if the right accept value stands between these two parts.

    The responses of an agent differ only in that value, and once a second in their date. So each
    is read once, and the result is cached. A placeholder of the same length and alphabet stands
    for the value.
    """
    head = before_key + _PLACEHOLDER + after_key
    if head.count(_PLACEHOLDER) != 1 or _HEAD.fullmatch(head) is None:
        return False
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    fields: dict[bytes, bytes] = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        fields[name.lower()] = value.strip(b" \t")
    return (
        len(fields) == len(lines) - 1 <= _FIELDS_MAX  # no field occurs twice
        and fields.get(b"upgrade", _EMPTY).lower() == b"websocket"
        and fields.get(b"connection", _EMPTY).lower() == b"upgrade"
        and fields.get(b"sec-websocket-accept") == _PLACEHOLDER
        and b"sec-websocket-extensions" not in fields
        and _is_offered(fields.get(b"sec-websocket-protocol"), subprotocols)
    )


def _is_offered(chosen: bytes | None, subprotocols: Sequence[str]) -> bool:
    return chosen is None or chosen.decode() in subprotocols
