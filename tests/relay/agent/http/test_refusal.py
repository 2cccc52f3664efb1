"""Which head is that of a stream of events, and what a refusal says."""

import pytest

from turnwire.relay.agent.failures import DialFailure
from turnwire.relay.agent.http.refusal import (
    EXCERPT_CHARACTERS,
    RETRY_AFTER_MAX_S,
    excerpt,
    refusal_of,
    retry_after_s,
)
from turnwire.relay.agent.http.response import Head

EVENTS = "text/event-stream"
NOW = 1_700_000_000.0


def why(status: int, content_type: str | None = EVENTS, **headers: str) -> DialFailure | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if content_type is not None:
        named["content-type"] = content_type
    refusal = refusal_of(Head(status, named), (EVENTS, "application/x-ndjson"))
    return None if refusal is None else refusal.why


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        *((101, DialFailure.HANDSHAKE), (200, None), (204, None), (299, None)),
        *((300, DialFailure.REDIRECT), (302, DialFailure.REDIRECT), (399, DialFailure.REDIRECT)),
        *((400, DialFailure.STATUS), (429, DialFailure.STATUS), (599, DialFailure.STATUS)),
        (600, DialFailure.STATUS),
    ],
)
def test_the_status_comes_first(status: int, expected: DialFailure | None) -> None:
    assert why(status) is expected
    if expected is not None:
        assert why(status, "text/html", content_encoding="gzip") is expected


@pytest.mark.parametrize(
    ("content_type", "is_read"),
    [
        *((EVENTS, True), ("Text/Event-Stream ; charset=x", True), ("application/x-ndjson", True)),
        *(("text/html", False), ("", False), (None, False), ("application/json", False)),
    ],
)
def test_only_types_that_the_dialect_reads(content_type: str | None, *, is_read: bool) -> None:
    assert why(200, content_type) is (None if is_read else DialFailure.CONTENT_TYPE)


@pytest.mark.parametrize(
    ("headers", "is_read"),
    [
        *(({"content_encoding": "identity"}, True), ({"content_encoding": " "}, True)),
        *(({"content_encoding": "gzip"}, False), ({"content_encoding": "identity, br"}, False)),
        *(({"transfer_encoding": "Chunked"}, True), ({"transfer_encoding": "gzip"}, False)),
        ({"transfer_encoding": "gzip, chunked"}, False),
    ],
)
def test_nothing_compressed(headers: dict[str, str], *, is_read: bool) -> None:
    assert why(200, **headers) is (None if is_read else DialFailure.CONTENT_ENCODING)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("7", 7.0), (" 0 ", 0.0), ("3601", 3_600.0), ("9" * 5_000, 3_600.0)),
        *(("Tue, 14 Nov 2023 22:13:50 GMT", 30.0), ("Tue, 14 Nov 2023 22:13:10 GMT", 0.0)),
        *(("Tue, 14 Nov 2093 22:13:50 GMT", RETRY_AFTER_MAX_S), ("soon", None), ("", None)),
        *(("-1", None), ("1.5", None), ("²", None), ("Tue, 99 Nov 2023 22:13:50 GMT", None)),
    ],
)
def test_when_to_come_back(value: str, seconds: float | None) -> None:
    assert retry_after_s(Head(429, {"retry-after": value}), NOW) == seconds


def test_nobody_says_when() -> None:
    assert retry_after_s(Head(429, {}), NOW) is None


def test_what_was_said_has_no_secret_of_ours_and_an_end() -> None:
    headers = {
        "authorization": "Bearer a.b-c",
        "x-key": "own secret",
        "user-agent": "turnwire/1",
        "content-type": "application/json",
        "x-request-id": "r1",
    }
    body = b'{"error":"no a.b-c, no Bearer a.b-c, no own secret; turnwire/1 r1 application/json"}'

    assert excerpt(body, headers) == (
        '{"error":"no xxxxx, no Bearer xxxxx, no xxxxxxxxxx; turnwire/1 r1 application/json"}'
    )
    assert excerpt(b"\xff" + b"x" * 9_000, {}) == "\ufffd" + "x" * (EXCERPT_CHARACTERS - 1)
    assert excerpt("é".encode() * 9_000, {}) == "é" * EXCERPT_CHARACTERS
