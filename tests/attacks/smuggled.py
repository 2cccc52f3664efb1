"""Bytes that two readers of HTTP may take for different requests."""

import json
from typing import Final

from gateway.clients import ask
from gateway.tokens import bearer

BODY: Final = json.dumps(ask()).encode()
HEALTH: Final = b"GET /healthz HTTP/1.1\r\nhost: gateway\r\n"
CHUNKED: Final = b"0\r\n\r\n"


def post(*headers: bytes, host: bytes = b"host: gateway") -> bytes:
    """The head of a prompt with these headers."""
    auth = f"authorization: {bearer()['authorization']}".encode()
    first = (b"POST /api/sessions/s1/chat HTTP/1.1", b"content-type: application/json")
    return b"\r\n".join([*first, auth, *((host,) if host else ()), *headers, b"", b""])


def length(of: bytes) -> bytes:
    return b"content-length: %d" % len(of)


TE: Final = b"transfer-encoding: chunked"


def framed(inner: bytes) -> dict[str, bytes]:
    """A prompt with an unsound end, and behind it a request of its own, for whoever reads it so."""
    return {
        "CL and TE": post(length(CHUNKED + inner), TE) + CHUNKED + inner,
        "TE and CL": post(TE, length(CHUNKED + inner)) + CHUNKED + inner,
        "two lengths": post(length(b""), length(inner)) + inner,
        "two lengths in one": post(b"content-length: 0, %d" % len(inner)) + inner,
        "the same length twice": post(length(BODY), length(BODY)) + BODY + inner,
        "a negative length": post(b"content-length: -1") + inner,
        "a length with a sign": post(b"content-length: +0") + inner,
        "a length in hexadecimals": post(b"content-length: 0x0") + inner,
        "a length with a space in it": post(b"content-length: 0 5") + inner,
        "no length's value": post(b"content-length:") + inner,
        "a length beyond all": post(b"content-length: 18446744073709551616") + inner,
        "a space before the colon": post(b"transfer-encoding : chunked", length(inner)) + inner,
        "a tab before the colon": post(b"transfer-encoding\t: chunked") + CHUNKED + inner,
        "chunked in a list": post(b"transfer-encoding: chunked, identity") + CHUNKED + inner,
        "almost chunked": post(b"transfer-encoding: xchunked") + CHUNKED + inner,
        "chunked in quotes": post(b'transfer-encoding: "chunked"') + CHUNKED + inner,
        "another coding": post(b"transfer-encoding: identity", length(BODY)) + BODY + inner,
        "two codings": post(TE, b"transfer-encoding: identity") + CHUNKED + inner,
        "chunked by HTTP/1.0": post(TE).replace(b"/1.1", b"/1.0", 1) + CHUNKED + inner,
        "a folded coding": post(b"transfer-encoding:\r\n chunked") + CHUNKED + inner,
        "a chunk's length with spaces": post(TE) + b" 0\r\n\r\n" + inner,
        "a chunk's length with a sign": post(TE) + b"-1\r\n\r\n" + inner,
        "a chunk's length in C": post(TE) + b"0x1\r\na\r\n0\r\n\r\n" + inner,
        "a chunk that is longer": post(TE) + b"1\r\nabc\r\n0\r\n\r\n" + inner,
        "a chunk's length without end": post(TE) + b"f" * 17 + b"\r\n" + inner,
        "chunks that end in LF": post(TE) + b"0\n\n" + inner,
    }


HEADS: Final = {
    "a folded header": HEALTH + b"x: a\r\n b\r\n\r\n",
    "a line that ends in LF": HEALTH.replace(b"\r\n", b"\n") + b"\n",
    "a line that ends in CR": HEALTH.replace(b"\r\n", b"\r") + b"\r\r",
    "one line that ends in LF": HEALTH + b"x: a\ny: b\r\n\r\n",
    "a space before the first header": HEALTH.replace(b"host", b" host") + b"\r\n",
    "no colon": HEALTH + b"nonsense\r\n\r\n",
    "a NUL in a header": HEALTH + b"x: a\0b\r\n\r\n",
    "a name with a line break": HEALTH + b"x\ry: a\r\n\r\n",
    "no name": HEALTH + b": a\r\n\r\n",
    "no host": HEALTH.replace(b"host: gateway\r\n", b"") + b"\r\n",
    "two hosts": HEALTH + b"host: gateway\r\n\r\n",
    "two hosts in one": HEALTH.replace(b"gateway", b"gateway, evil.example") + b"\r\n",
    "a host with a path": HEALTH.replace(b"gateway", b"gateway/x") + b"\r\n",
    "a host with a name": HEALTH.replace(b"gateway", b"u@gateway") + b"\r\n",
    "two hosts and HTTP/1.0": HEALTH.replace(b"/1.1", b"/1.0") + b"host: b\r\n\r\n",
    "a whole URL as target": HEALTH.replace(b"/healthz", b"http://evil.example/healthz") + b"\r\n",
    "a host as target": HEALTH.replace(b"GET /healthz", b"CONNECT gateway:80") + b"\r\n",
    "a star as target": HEALTH.replace(b"GET /healthz", b"OPTIONS *") + b"\r\n",
    "a target that is no path": HEALTH.replace(b"/healthz", b"healthz") + b"\r\n",
    "a space in the target": HEALTH.replace(b"/healthz", b"/health z") + b"\r\n",
    "a version of its own": HEALTH.replace(b"/1.1", b"/1.9") + b"\r\n",
    "two digits of a version": HEALTH.replace(b"/1.1", b"/1.10") + b"\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "a method of its own": HEALTH.replace(b"GET", b"G3T") + b"\r\n",
    "HTTP/2 known beforehand": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a header of 100 KB": HEALTH + b"x: " + b"a" * 100_000 + b"\r\n\r\n",
    "a target of 100 KB": HEALTH.replace(b"healthz", b"healthz?" + b"a" * 100_000) + b"\r\n",
    "1,000 headers": HEALTH + b"x: a\r\n" * 1_000 + b"\r\n",
}


def proxied(inner: bytes) -> dict[str, bytes]:
    """Sound requests that proxies have been known to pass on as something else."""
    asks = b"http2-settings: AAMAAABkAARAAAAAAAIAAAAA"
    key = b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13"
    unsigned = post(length(inner)).replace(b"authorization", b"x-authorization")
    return {
        "a length that is for one hop": post(length(BODY), b"connection: content-length")
        + (BODY + inner),
        "chunks that are for one hop": post(TE, b"connection: transfer-encoding") + CHUNKED + inner,
        "a token that is for one hop": post(length(inner), b"connection: authorization") + inner,
        "an upgrade to HTTP/2": post(
            length(BODY), b"connection: upgrade, http2-settings", b"upgrade: h2c", asks
        )
        + (BODY + inner),
        "an upgrade to WebSocket": post(
            b"connection: upgrade", b"upgrade: websocket", key, length(BODY)
        )
        + (BODY + inner),
        "a body that is announced": post(length(BODY), b"expect: 100-continue") + BODY + inner,
        "a body that is refused unread": unsigned + inner,
        "a body of a GET": HEALTH + length(inner) + b"\r\n\r\n" + inner,
        "a chunk's extension with a line feed": post(TE) + b"2;a\nx\r\n{}\r\n0\r\n\r\n" + inner,
        "a chunk's extension with quotes": post(TE) + b'2;a="\r\n{}\r\n0\r\n\r\n' + inner,
        "a trailer that is a length": post(TE) + b"0\r\ncontent-length: 99\r\n\r\n" + inner,
        "an answer without a body": HEALTH.replace(b"GET", b"HEAD") + b"\r\n" + inner,
    }
