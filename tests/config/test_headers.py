"""The operator's own headers: which are taken, and what is said of the others."""

import json
from pathlib import Path

import pytest

from config.given import GOOD, problems
from turnwire.config.environ import from_environ
from turnwire.config.headers import CHARACTERS_MAX, BadHeadersError, agent_headers, identity_headers
from turnwire.config.settings import Settings
from turnwire.core.connect import RESERVED_HEADERS, RESERVED_PREFIXES


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("", {}),
        ("{}", {}),
        ('{"x-api-key": "a b:c,d=\\"e\\""}', {"x-api-key": 'a b:c,d="e"'}),
        (' {"X-Team":"1" , "x_y.z!":"~"}\n', {"x-team": "1", "x_y.z!": "~"}),
    ],
)
def test_headers(text: str, headers: dict[str, str]) -> None:
    assert dict(agent_headers(Settings(agent_headers=text))) == headers


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *((text, "must be a JSON object of names") for text in ("x-a: b", "[]", '{"a":1}', "{")),
        ('{"a":null}', "must be a JSON object of names"),
        ('{"":"1"}', "'' is no name of a header"),
        ('{"a b":"1"}', "'a b' is no name of a header"),
        ('{"a\\r\\nb":"1"}', "is no name of a header"),
        ('{"\\u212a":"1"}', None),  # it becomes a k in lower case
        ('{"é":"1"}', "'é' is no name of a header"),
        *(
            (json.dumps({"x-a": value}), "the value of 'x-a' must be visible ASCII")
            for value in ("", " ", " a", "a ", "a\r\nb: c", "a\nb", "a\0b", "é", "a\tb", "a\x7f")
        ),
        ('{"X-A":"1","x-a":"2"}', "a name is there twice"),
        *(
            (json.dumps({name.title(): "1"}), f"the gateway sets '{name}' itself")
            for name in (
                *sorted(RESERVED_HEADERS),
                *(f"{prefix}any" for prefix in RESERVED_PREFIXES),
                *("content-type", "content-encoding"),
            )
        ),
        (json.dumps({"x-a": "x" * CHARACTERS_MAX}), f"must have {CHARACTERS_MAX} characters"),
    ],
)
def test_what_is_no_header_of_the_operator(text: str, problem: str | None) -> None:
    settings = Settings(agent_headers=text)
    if problem is None:
        assert dict(agent_headers(settings)) == {"k": "1"}
        return
    with pytest.raises(BadHeadersError, match=problem.replace("'", "[']")) as refused:
        agent_headers(settings)
    assert "secret" not in str(refused.value)


def test_a_bad_one_is_a_settings_error_without_its_value() -> None:
    assert problems(agent_headers='{"host": "secret"}') == [
        "TURNWIRE_AGENT_HEADERS: the gateway sets 'host' itself"
    ]
    (problem,) = problems(agent_headers='{"x-a": "secret\\r\\n"}')
    assert problem.startswith("TURNWIRE_AGENT_HEADERS: the value of 'x-a' must be")
    assert "secret" not in problem


def test_they_may_be_in_a_file_and_are_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "headers.json"
    file.write_text('{\n  "x-api-key": "hush"\n}\n')

    settings = from_environ(GOOD | {"TURNWIRE_AGENT_HEADERS_FILE": str(file)})

    assert dict(agent_headers(settings)) == {"x-api-key": "hush"}
    assert "hush" not in repr(settings)


def test_they_are_secrets_that_do_not_travel_in_the_open() -> None:
    plain = {"agent_url": "ws://agents.example/{session_id}", "agent_auth": "none"}
    assert from_environ(
        GOOD | {f"TURNWIRE_{name.upper()}": value for name, value in plain.items()}
    ).agent_auth == ("none")

    (problem,) = problems(**plain, agent_headers='{"x-api-key": "hush"}')

    assert problem.startswith("TURNWIRE_AGENT_URL: a token would travel over plain ws:")


def test_who_asks_is_told_by_a_token_or_by_a_name() -> None:
    who = ("the.users.token", "ana@x|é")
    named = {"x-turnwire-user": "ana@x|%C3%A9"}
    assert identity_headers(Settings(), *who) == {"authorization": "Bearer the.users.token"}
    assert identity_headers(Settings(agent_auth="none"), *who) == named
    service = Settings(agent_auth="service", agent_token="ours")
    assert identity_headers(service, *who) == {"authorization": "Bearer ours", **named}


@pytest.mark.parametrize(
    ("user_id", "sent"),
    [
        ("ana.b-c_d~e|f+g/h:i@j9", "ana.b-c_d~e|f+g/h:i@j9"),
        ("", ""),
        ("a\r\nx: y", "a%0D%0Ax:%20y"),
        ("a\n", "a%0A"),
        ("100%", "100%25"),
        ("\u0661", "%D9%A1"),
    ],
)
def test_a_name_is_encoded_where_a_header_cannot_carry_it(user_id: str, sent: str) -> None:
    assert identity_headers(Settings(agent_auth="none"), "", user_id) == {"x-turnwire-user": sent}
