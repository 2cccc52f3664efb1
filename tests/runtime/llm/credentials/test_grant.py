import base64
from urllib.parse import parse_qsl

import pytest

from turnwire_agent.llm.credentials.grant import Grant, TokenRequest, token_request
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.sources import KeyValue

URL = "https://auth.example.com/token"


def form(request: TokenRequest) -> dict[str, str]:
    return dict(parse_qsl(request.body.decode(), strict_parsing=True))


def test_a_public_client_names_itself_in_the_form() -> None:
    grant = Grant(kind="refresh_token", token_url=URL, client_id="me", scope="a b")
    request = token_request(grant, client_secret=None, refresh_token=Secret("r&=+ ü"))

    assert form(request) == {
        "grant_type": "refresh_token",
        "refresh_token": "r&=+ ü",
        "scope": "a b",
        "client_id": "me",
    }
    assert "authorization" not in request.headers
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"


def test_a_secret_goes_into_a_header_form_encoded() -> None:
    grant = Grant(kind="client_credentials", token_url=URL, client_id="m e:")
    request = token_request(grant, client_secret=Secret("s:+"), refresh_token=None)

    assert form(request) == {"grant_type": "client_credentials"}
    encoded = request.headers["authorization"].removeprefix("Basic ")
    assert base64.b64decode(encoded) == b"m+e%3A:s%3A%2B"


def test_a_secret_goes_into_the_form_if_the_server_wants_that() -> None:
    grant = Grant(
        kind="client_credentials",
        token_url=URL,
        client_id="me",
        client_auth="post",
        extra={"audience": "api", "grant_type": "not this"},
    )
    request = token_request(grant, client_secret=Secret("s"), refresh_token=None)

    assert form(request) == {
        "audience": "api",
        "grant_type": "client_credentials",
        "client_id": "me",
        "client_secret": "s",
    }
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    "url", [URL, "http://127.0.0.1:8080/t", "http://[::1]/t", "http://localhost/t"]
)
def test_a_token_url_is_encrypted_or_on_loopback(url: str) -> None:
    assert url.partition("//")[2].partition("/")[0] == grant_of(url).server


@pytest.mark.parametrize(
    "url",
    [
        "http://auth.example.com/canary",
        "http://10.0.0.1/canary",
        "ftp://127.0.0.1/canary",
        "https:///canary",
        "https://me:canary@auth.example.com/",
        "https://auth.example.com/#canary",
        "https://[canary/",
        "https://canary\u2100.example.com/",
    ],
)
def test_another_url_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ValueError, match="A token URL") as raised:
        grant_of(url)

    assert "canary" not in str(raised.value)
    assert raised.value.__context__ is None


def test_tokens_of_other_settings_have_other_keys() -> None:
    grants = [
        grant_of(URL),
        grant_of(URL + "/"),
        Grant(kind="client_credentials", token_url=URL, client_id="me"),
        Grant(kind="refresh_token", token_url=URL, client_id="you"),
        Grant(kind="refresh_token", token_url=URL, client_id="me", scope="s"),
    ]

    assert len({grant.key("a") for grant in grants} | {grants[0].key("b")}) == 6


def test_no_representation_holds_a_secret() -> None:
    grant = Grant(
        kind="refresh_token",
        token_url=URL + "?key=canary",
        client_id="me",
        client_secret=KeyValue("canary"),
        extra={"password": "canary"},
    )
    request = token_request(grant, client_secret=Secret("canary"), refresh_token=Secret("canary"))

    for shown in (repr(grant), repr(request), repr(request.headers), grant.server):
        assert "canary" not in shown


def grant_of(url: str) -> Grant:
    return Grant(kind="refresh_token", token_url=url, client_id="me")
