"""What is told of wrong settings: all of it at once, and nothing that only seems so."""

import pytest

from config.given import GOOD, problems
from turnwire.config.environ import from_environ, name_problem
from turnwire.config.settings import variable
from turnwire.errors import SettingsError


def test_what_does_not_go_together_is_told_beside_what_is_wrong_by_itself() -> None:
    told = problems(idel_s="1", jwt_key="short", turn_s="-1", metrics_port="8787")

    assert told == [
        "TURNWIRE_IDEL_S: no such setting; did you mean TURNWIRE_IDLE_S?",
        "TURNWIRE_TURN_S: must be a number above 0, at most 1000000",
        "TURNWIRE_METRICS_PORT: is TURNWIRE_PORT too",
        "TURNWIRE_JWT_KEY: a key has fewer than 32 bytes",
    ]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"port": "x", "metrics_port": "8787"}, ["PORT"]),
        ({"access": "x", "auth": "opaque"}, ["ACCESS"]),
        ({"jwt_algorithm": "x", "jwt_key": "short"}, ["JWT_ALGORITHM"]),
        ({"jwt_key": "", "jwt_key_file": "/nowhere"}, ["JWT_KEY_FILE"]),
        ({"enabled": "x", "agent_url": ""}, ["ENABLED"]),
        ({"agent_auth": "x", "agent_url": "ws://h/{session_id}"}, ["AGENT_AUTH"]),
        ({"agent_auth": "x", "agent_url": "https://h/{session_id}"}, ["AGENT_AUTH", "AGENT_URL"]),
        (
            {"jwt_algorithm": "x", "jwt_key": "", "jwt_jwks_url": "ws://h"},
            ["JWT_ALGORITHM", "JWT_JWKS_URL"],
        ),
    ],
)
def test_a_wrong_value_is_not_held_against_others(given: dict[str, str], named: list[str]) -> None:
    environ = GOOD | {variable(name): value for name, value in given.items()}
    if "jwt_key_file" in given:
        del environ["TURNWIRE_JWT_KEY"]
    with pytest.raises(SettingsError) as refused:
        from_environ(environ)

    assert [line.split(":")[0] for line in refused.value.problems] == [
        f"TURNWIRE_{name}" for name in named
    ]


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("PORT", "x", "must be a whole number from 0 to 65535"),
        ("MAX_STREAMS", "-1", "must be a whole number from 0 to 9007199254740992"),
        ("BODY_BYTES", "0", "must be a whole number above 0, at most 9007199254740992"),
        ("IDLE_S", "-1", "must be a number above 0, at most 1000000"),
        ("JWT_LEEWAY_S", "301", "must be a number from 0 to 300"),
        ("USAGE", "yes", "must be true or false"),
        ("AUTH", "x", "must be one of jwt, opaque"),
        ("HOST", "", "must not be empty"),
    ],
)
def test_what_a_value_must_be_is_told_in_plain_words(name: str, given: str, told: str) -> None:
    assert problems(**{name: given}) == [f"TURNWIRE_{name}: {told}"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("TURNWIRE_PORT", None),
        ("TURNWIRE_JWT_KEY_FILE", None),
        ("ENABLE_AI_SDK_ADAPTER", None),
        ("TURNWIRE_LAB_ANYTHING", None),
        ("PATH", None),
        ("turnwire_prt", None),  # somebody else's
        ("TURNWIRE_X", "TURNWIRE_X: no such setting"),
        ("TURNWIRE_PORT_FILE", "TURNWIRE_PORT_FILE: no such setting"),
        ("TURNWIRE_PRT", "TURNWIRE_PRT: no such setting; did you mean TURNWIRE_PORT?"),
        ("turnwire_port", "turnwire_port: no such setting; did you mean TURNWIRE_PORT?"),
        (
            "enable_ai_sdk_adapter",
            "enable_ai_sdk_adapter: no such setting; did you mean ENABLE_AI_SDK_ADAPTER?",
        ),
    ],
)
def test_a_name_is_known_or_it_is_said_why_not(name: str, told: str | None) -> None:
    assert name_problem(name) == told
