"""The answer of an API is the result of a tool, and an error is one in its words."""

from typing import Any

import pytest

from turnwire_agent.openapi.answers import Answer, result_of
from turnwire_agent.tools.contract import Media, Output, ToolFailed


@pytest.mark.parametrize(
    ("kind", "body", "result"),
    [
        ("application/json", b'{"a": [1]}', {"a": [1]}),
        ("application/problem+json", b"[]", []),
        ("application/json", b"{", "{"),
        ("application/json", b"[" * 100_000, "[" * 100_000),
        ("text/plain", b"\xffa", "\N{REPLACEMENT CHARACTER}a"),
        ("application/atom+xml", b"<a/>", "<a/>"),
        ("application/xml", b"<a/>", "<a/>"),
        ("image/png", b"pixel", Output((Media("image/png", b"pixel"),))),
        ("application/pdf", b"1234", "[application/pdf of 4 bytes was left out]"),
        ("", b"1234", "[a body without a type of 4 bytes was left out]"),
        ("application/json", b"", "Done (status 200)."),
    ],
)
def test_a_body_is_what_its_type_says(kind: str, body: bytes, result: Any) -> None:
    assert result_of(Answer(200, kind, body)) == result


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("application/json", "[1,\n[the answer is longer: the rest was left out]"),
        ("text/csv", "[1,\n[the answer is longer: the rest was left out]"),
        ("image/png", "[image/png of more than 3 bytes was left out]"),
    ],
)
def test_a_body_that_was_cut_says_so(kind: str, result: str) -> None:
    assert result_of(Answer(200, kind, b"[1,", cut=True)) == result


@pytest.mark.parametrize(
    ("status", "kind", "body", "words"),
    [
        (404, "application/json", b'{"error": "no order"} ', 'answered 404: {"error": "no order"}'),
        (500, "text/html", b"x" * 3_000, f"answered 500: {'x' * 2_000}"),
        (422, "image/png", b"pixel", "The server answered 422."),
        (503, "text/plain", b"", "The server answered 503."),
        (401, "text/plain", b"token canary", "does not accept our credential (401)."),
        (302, "text/plain", b"", "points elsewhere (302), which is not followed."),
    ],
)
def test_an_error_is_told_in_the_words_of_the_server(
    status: int, kind: str, body: bytes, words: str
) -> None:
    with pytest.raises(ToolFailed) as failed:
        result_of(Answer(status, kind, body))

    assert str(failed.value).endswith(words)
    assert "canary" not in str(failed.value)


def test_an_answer_is_not_shown() -> None:
    assert "canary" not in repr(Answer(200, "text/plain", b"canary"))
