"""Hosts, origins and networks in the settings. URLs are told in test_settings.py."""

import pytest

from turnwire.config.urls import is_loopback, is_origin, network


@pytest.mark.parametrize(
    ("host", "is_so"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104 (it is refused)
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_only_loopback_is_loopback(
    host: str,
    is_so: bool,  # noqa: FBT001 (a table's column)
) -> None:
    assert is_loopback(host) is is_so


@pytest.mark.parametrize(
    "given",
    [
        "https://app.example",
        "http://app.example",
        "https://app.example:8443",
        "http://localhost:3000",
        "http://127.0.0.1:5173",
        "http://[::1]:5173",
        "https://xn--bcher-kva.example",
        "http://app.example:443",
        "capacitor://localhost",
        "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    ],
)
def test_an_origin_is_what_a_browser_says(given: str) -> None:
    assert is_origin(given)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "*",
        "null",
        "app.example",
        "//app.example",
        "https://",
        "https://app.example/",
        "https://app.example/path",
        "https://app.example?x",
        "https://app.example#x",
        "https://user@app.example",
        "https://App.example",
        "HTTPS://app.example",
        "https://app.example:443",
        "http://app.example:80",
        "https://app.example:0443",
        "https://app.example:",
        "https://*.app.example",
        "https://.app.example",
        "https://app.example.",
        "https://bücher.example",
        "https://app.example\n",
        "https://app.example https://b.example",
        "https://app.example:123456",
    ],
)
def test_what_no_browser_says_is_no_origin(given: str) -> None:
    assert not is_origin(given)


@pytest.mark.parametrize(
    ("given", "is_one"),
    [
        ("10.0.0.0/8", True),
        ("10.0.0.1", True),
        ("fd00::/8", True),
        ("::1", True),
        ("10.0.0.1/8", False),  # which of the two is meant?
        ("0.0.0.0/0", False),  # everybody could say who they are
        ("::/0", False),
        ("10.0.0.0/33", False),
        ("10.0.0", False),
        ("proxy.example", False),
        ("*", False),
        ("", False),
    ],
)
def test_a_network_is_not_everybody(
    given: str,
    is_one: bool,  # noqa: FBT001 (a table's column)
) -> None:
    assert (network(given) is not None) is is_one
