"""Which heads of requests are accepted: their size, and what a proxy could read differently."""

import re
from collections.abc import Sequence
from typing import Final

HEAD_BYTES_MAX: Final = 65_536
"""Longest request line with headers. To parse a header takes the square of its length."""

HEADERS_MAX: Final = 100

_HOST: Final = re.compile(rb"[A-Za-z0-9._~%:\[\]-]*")
_HEADER_OVERHEAD: Final = len(": \r\n")


class UnsoundRequestError(Exception):
    """A proxy and the gateway might read this request differently."""


def check_head(
    url: bytes, headers: Sequence[tuple[bytes, bytes]], *, method: bytes, http_version: str
) -> None:
    """Reject heads that the parser accepts, but that a proxy in front may read differently.

    Names of headers are in lower case.

    Raises:
        UnsoundRequestError: the parser turns it into an error of its own, so into a 400.

    """
    hosts: list[bytes] = []
    size = len(url) + _HEADER_OVERHEAD * len(headers)
    for name, value in headers:
        size += len(name) + len(value)
        if name == b"host":
            hosts.append(value)
    if size > HEAD_BYTES_MAX or len(headers) > HEADERS_MAX:
        raise UnsoundRequestError("the head is too large")
    if not url.startswith(b"/") or method == b"CONNECT":
        raise UnsoundRequestError("the target is no path")
    is_http_1_0 = http_version == "1.0"
    if len(hosts) > 1 or not (hosts or is_http_1_0):
        raise UnsoundRequestError("not one host")
    if hosts and _HOST.fullmatch(hosts[0]) is None:
        raise UnsoundRequestError("a host that is none")
    if is_http_1_0 and any(name == b"transfer-encoding" for name, _ in headers):
        raise UnsoundRequestError("HTTP/1.0 knows no chunks")
