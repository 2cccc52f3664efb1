import json

import pytest

from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.token_answer import (
    Answer,
    GrantRefused,
    Issued,
    SettingsRefused,
    Unavailable,
    read_answer,
)


def issued(**fields: object) -> Answer:
    return read_answer(200, json.dumps({"access_token": "a", **fields}).encode())


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({}, Issued(Secret("a"), None, None)),
        (
            {"refresh_token": "r", "expires_in": 3600, "token_type": "BEARER", "other": [1]},
            Issued(Secret("a"), Secret("r"), 3600.0),
        ),
        ({"refresh_token": "", "expires_in": "3600"}, Issued(Secret("a"), None, 3600.0)),
        ({"refresh_token": None, "expires_in": 0.5}, Issued(Secret("a"), None, 0.5)),
        ({"expires_in": 1e300}, Issued(Secret("a"), None, 315_360_000.0)),
    ],
)
def test_a_token_is_read(fields: dict[str, object], answer: Answer) -> None:
    assert issued(**fields) == answer


@pytest.mark.parametrize("lifetime", [0, -5, True, None, "soon", "nan", "inf", [], 10**400])
def test_a_lifetime_that_cannot_be_used_is_none(lifetime: object) -> None:
    assert issued(expires_in=lifetime) == Issued(Secret("a"), None, None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"access_token": 7}',
        b'{"access_token": null}',
        b'{"access_token": "\xff"}',
        b'{"access_token": "a", "refresh_token": 7}',
        b'{"access_token": "a", "token_type": 7}',
    ],
)
def test_what_is_no_token_may_be_one_later(body: bytes) -> None:
    assert read_answer(200, body) == Unavailable("gives a token that cannot be read")


@pytest.mark.parametrize("token", ["", "a b", "a\n", "é"])
def test_a_token_that_no_header_can_have_is_not_taken(token: str) -> None:
    assert issued(access_token=token) == Unavailable("gives a token that no header can have")


def test_a_token_that_is_no_bearer_token_is_not_sent_as_one() -> None:
    assert issued(token_type="mac") == SettingsRefused("gives no bearer token")


@pytest.mark.parametrize(
    ("status", "body", "retry_after", "answer"),
    [
        (400, '{"error": "invalid_grant", "error_description": "x"}', "", GrantRefused()),
        (401, '{"error": "invalid_client"}', "", SettingsRefused("answers 401, invalid_client")),
        (400, '{"error": "canary"}', "", SettingsRefused("answers 400")),
        (400, json.dumps({"error": "c" * 65}), "", SettingsRefused("answers 400")),
        (404, "<html>", "", SettingsRefused("answers 404")),
        (302, "", "", SettingsRefused("answers 302")),
        (400, '{"error": "temporarily_unavailable"}', "9", Unavailable("answers 400", 9.0)),
        (408, "", "", Unavailable("answers 408")),
        (429, "", "30", Unavailable("answers 429", 30.0)),
        (503, '{"error": "invalid_grant"}', "soon", Unavailable("answers 503")),
        (500, "", "\u0663", Unavailable("answers 500")),
        (500, "", "9999999", Unavailable("answers 500")),
    ],
)
def test_a_refusal_is_told_from_a_trouble(
    status: int, body: str, retry_after: str, answer: Answer
) -> None:
    assert read_answer(status, body.encode(), retry_after) == answer


def test_a_body_that_is_not_utf_8_is_no_error_of_ours() -> None:
    assert read_answer(400, b'{"error": "\xff"}') == SettingsRefused("answers 400")
