"""`TURNWIRE_AGENT_URL` is a URL of the transport that carries the dialect."""

import pytest

from config.given import GOOD, problems
from support.http_dialect import HttpDialect
from turnwire.config.environ import from_environ
from turnwire.dialects import DIALECTS


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())


def problems_of(url: str, **more: str) -> list[str]:
    given = {"agent_url": url, "dialect": HttpDialect.name, **more}
    return problems(**given)


@pytest.mark.parametrize(
    "url",
    [
        *("https://h", "https://h/", "https://h:81/agent?x=y", "https://h/{session_id}/run"),
        *("HTTPS://h/a", "http://localhost/a", "http://127.0.0.1:9/", "http://[::1]/{session_id}"),
        "https://h/a?session={session_id}",
    ],
)
def test_of_a_dialect_over_http(url: str) -> None:
    environ = GOOD | {"TURNWIRE_AGENT_URL": url, "TURNWIRE_DIALECT": HttpDialect.name}

    assert from_environ(environ).agent_url == url


@pytest.mark.parametrize("scheme", ["ws", "wss"])
def test_that_of_a_websocket_is_refused_for_it(scheme: str) -> None:
    assert problems_of(f"{scheme}://h/{{session_id}}") == [
        (
            f"TURNWIRE_AGENT_URL: must start with http:// or https://, not {scheme}://,"
            " for TURNWIRE_DIALECT=http-posting"
        )
    ]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_that_of_http_is_refused_for_a_websocket(scheme: str) -> None:
    assert problems(agent_url=f"{scheme}://h/{{session_id}}") == [
        (
            f"TURNWIRE_AGENT_URL: must start with ws:// or wss://, not {scheme}://,"
            " for TURNWIRE_DIALECT=v2"
        )
    ]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://h/", "must start with http:// or https:// and a host"),
        ("https:///a", "must start with http:// or https:// and a host"),
        ("https://{session_id}.h/a", "{session_id} must stand in it, after the host"),
        ("https://u@h/a", "must have no user, no fragment, no white space"),
        ("https://h/ a", "must have no user, no fragment, no white space"),
        ("http://h/a", "a token would travel over plain http:"),
    ],
)
def test_what_is_wrong_with_others(url: str, problem: str) -> None:
    (line,) = problems_of(url)

    assert line.startswith(f"TURNWIRE_AGENT_URL: {problem}")


@pytest.mark.parametrize("more", [{"insecure": "true"}, {"agent_auth": "none"}])
def test_plain_http_may_be_allowed(more: dict[str, str]) -> None:
    given = {"agent_url": "http://h/a", "dialect": HttpDialect.name, **more}

    from_environ(GOOD | {f"TURNWIRE_{name.upper()}": value for name, value in given.items()})
