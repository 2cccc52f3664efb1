"""Settings about keys, key sets, pages of other origins and TLS: what goes together."""

from pathlib import Path

import pytest

from gateway.signers import ASYMMETRIC, signer
from gateway.tokens import KEY
from turnwire.config.environ import from_environ
from turnwire.config.lists import keys, origins
from turnwire.config.settings import variable
from turnwire.errors import SettingsError

BASE = {
    "TURNWIRE_ENABLED": "true",
    "TURNWIRE_AGENT_URL": "wss://agents.example/{session_id}/ws",
}
JWKS = {"jwt_algorithm": "ES256", "jwt_jwks_url": "https://id.example/.well-known/jwks.json?v=1"}
OPAQUE = {"auth": "opaque", "access": "http", "access_url": "https://h/{session_id}"}


def environ(given: dict[str, str]) -> dict[str, str]:
    return BASE | {variable(name): value for name, value in given.items()}


def problems(given: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        from_environ(environ(given))
    return refused.value.problems


@pytest.mark.parametrize("algorithm", ASYMMETRIC)
def test_public_keys_may_be_a_variable_or_a_file(algorithm: str, tmp_path: Path) -> None:
    pems = signer(algorithm).pem + signer(algorithm, 1).pem
    file = tmp_path / "keys.pem"
    file.write_text(pems)

    for given in ({"jwt_key": pems.replace("\n", "\\n")}, {"jwt_key_file": str(file)}):
        settings = from_environ(environ({"jwt_algorithm": algorithm, **given}))

        assert keys(settings) == [
            signer(algorithm, number).private.public_key() for number in (0, 1)
        ]
        assert "BEGIN" not in repr(settings)


@pytest.mark.parametrize(
    "given",
    [
        JWKS,
        {**JWKS, "jwt_algorithm": "RS256", "jwt_jwks_url": "http://127.0.0.1:1/jwks"},
        {**JWKS, "token_expiry": "cut"},
        {**JWKS, "agent_auth": "none", "agent_url": "ws://agents.example/{session_id}"},
        {"enabled": "false", "jwt_algorithm": "EdDSA"},
        {**OPAQUE, "jwt_key": "short"},
        {"jwt_key": KEY, "cors_origins": "*"},
        {"jwt_key": KEY, "cors_origins": " https://a.example , http://localhost:3000,"},
    ],
)
def test_what_goes_together_is_taken(given: dict[str, str]) -> None:
    from_environ(environ(given))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "JWT_KEY"),
        ({"jwt_algorithm": "RS256"}, "JWT_KEY"),
        ({"jwt_algorithm": "RS256", "jwt_key": KEY}, "JWT_KEY"),
        ({"jwt_algorithm": "RS256", "jwt_key": KEY, "enabled": "false"}, "JWT_KEY"),
        ({"jwt_key": signer("RS256").pem}, "JWT_KEY"),
        ({"jwt_algorithm": "RS256", "jwt_key": signer("RS256").private_pem}, "JWT_KEY"),
        ({"jwt_algorithm": "ES256", "jwt_key": signer("ES384").pem}, "JWT_KEY"),
        ({"jwt_algorithm": "PS256", "jwt_key": KEY}, "JWT_ALGORITHM"),
        ({**JWKS, "jwt_key": signer("ES256").pem}, "JWT_JWKS_URL"),
        ({**JWKS, "jwt_algorithm": "HS256"}, "JWT_JWKS_URL"),
        ({**JWKS, "jwt_jwks_url": "http://id.example/jwks"}, "JWT_JWKS_URL"),
        # That is said of tokens: whoever forges keys is whoever they like.
        (
            {**JWKS, "jwt_jwks_url": "http://id.example/jwks", "insecure": "true"},
            "JWT_JWKS_URL",
        ),
        (
            {**JWKS, "jwt_jwks_url": "http://id.example/jwks", "agent_auth": "none"},
            "JWT_JWKS_URL",
        ),
        ({**JWKS, "jwt_jwks_url": "http://localhost.evil.example/jwks"}, "JWT_JWKS_URL"),
        ({**JWKS, "jwt_jwks_url": "file:///etc/keys"}, "JWT_JWKS_URL"),
        ({**JWKS, "jwt_jwks_url": "https://u:p@id.example/jwks"}, "JWT_JWKS_URL"),
        ({**JWKS, "token_expiry": "sometimes"}, "TOKEN_EXPIRY"),
        ({**OPAQUE, "token_expiry": "cut"}, "TOKEN_EXPIRY"),
        ({"jwt_key": KEY, "cors_origins": "https://a.example/"}, "CORS_ORIGINS"),
        ({"jwt_key": KEY, "cors_origins": "https://A.example"}, "CORS_ORIGINS"),
        ({"jwt_key": KEY, "cors_origins": "null"}, "CORS_ORIGINS"),
        ({"jwt_key": KEY, "cors_origins": "*,https://a.example"}, "CORS_ORIGINS"),
        ({"jwt_key": KEY, "cors_origins": "https://*.a.example"}, "CORS_ORIGINS"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(
    given: dict[str, str], named: str
) -> None:
    (problem,) = problems(given)

    assert problem.startswith(f"TURNWIRE_{named}: ")
    assert "\n" not in problem
    assert "BEGIN" not in problem


def test_origins_are_kept_as_they_are_spelled() -> None:
    given = {"jwt_key": KEY, "cors_origins": " https://a.example , http://localhost:3000,"}

    assert origins(from_environ(environ(given))) == ("https://a.example", "http://localhost:3000")
