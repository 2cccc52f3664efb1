"""Responses that are no stream: who sent them, and what they say is wrong."""

import httpx
import pytest

from turnwire.doctor.error_answers import error_answer, history_symptom, is_of_proxy, prompt_symptom
from turnwire.doctor.findings import Code

OURS = b'{"error":"No","code":"x","requestId":"r"}'
HTML = b"<h1>503</h1>"


def code_of_history(status: int, body: bytes) -> Code | None:
    symptom = history_symptom(httpx.Response(status, content=body))
    return None if symptom is None else symptom[0]


@pytest.mark.parametrize("body", [HTML, b"", b"{}", b"[" * 5_000, b"\xff"])
def test_what_is_not_turnwires_is_no_answer(body: bytes) -> None:
    assert error_answer(httpx.Response(404, content=body)) is None


@pytest.mark.parametrize(
    ("status", "body", "of_proxy"),
    [
        (502, OURS, True),
        (504, HTML, True),
        (503, HTML, True),
        (503, OURS, False),
        (404, HTML, False),
    ],
)
def test_who_cannot_reach_a_gateway(status: int, body: bytes, *, of_proxy: bool) -> None:
    assert is_of_proxy(httpx.Response(status, content=body)) == of_proxy


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (200, b"[]", None),
        (200, b"{}", Code.HISTORY_ELSEWHERE),
        (200, HTML, Code.HISTORY_ELSEWHERE),
        (302, b"", Code.REDIRECTED),
        (401, HTML, Code.UNAUTHORIZED),
        (403, HTML, Code.FORBIDDEN),
        (429, HTML, Code.TOO_MANY),
        (404, HTML, Code.HISTORY_ELSEWHERE),
        (404, OURS, Code.NOT_FOUND),
        (501, OURS, Code.NO_HISTORY),
        (503, OURS, Code.AGENT_UNREACHABLE),
        (503, HTML, Code.UNREACHABLE_BEHIND),
        (418, OURS, Code.REFUSED),
    ],
)
def test_what_a_missing_history_says(status: int, body: bytes, code: Code | None) -> None:
    assert code_of_history(status, body) is code


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, OURS, Code.UNAUTHORIZED),
        (404, OURS, Code.NOT_FOUND),
        (429, OURS, Code.TOO_MANY),
        (503, OURS, Code.UNAVAILABLE),
        (503, HTML, Code.UNREACHABLE_BEHIND),
        (418, OURS, Code.REFUSED),
    ],
)
def test_what_a_refused_prompt_says(status: int, body: bytes, code: Code) -> None:
    assert prompt_symptom(httpx.Response(status, content=body))[0] is code


def test_a_description_has_the_words_and_when_to_come_again() -> None:
    headers = {"retry-after": "5", "location": "/sign-in?token=secret"}

    _, refused = prompt_symptom(httpx.Response(429, content=OURS, headers=headers))
    symptom = history_symptom(httpx.Response(302, headers=headers))

    assert refused == "429, No, retry-after: 5"
    assert symptom == (Code.REDIRECTED, "302 to /sign-in")
