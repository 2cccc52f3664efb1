"""Which headers a dialect may set: none that says who asks, none that belongs to the connection."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from turnwire.core.connect import (
    RESERVED_HEADERS,
    RESERVED_PREFIXES,
    BadConnectRequestError,
    ConnectRequest,
)

RESERVED = sorted({*RESERVED_HEADERS, *(f"{prefix}any" for prefix in RESERVED_PREFIXES)})


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize("spelt", [str.lower, str.upper, str.title])
def test_a_reserved_header_is_refused_in_any_case(name: str, spelt: Callable[[str], str]) -> None:
    with pytest.raises(BadConnectRequestError, match=f"may not set the header '{spelt(name)}'"):
        ConnectRequest(headers={"x-own": "1", spelt(name): "x"})


@pytest.mark.parametrize("name", ["Content-Type", "", "a b", "a\r\nhost", "x:", "é"])
def test_what_is_no_name_in_lower_case_is_refused(name: str) -> None:
    with pytest.raises(BadConnectRequestError, match="no name of a header in lower case"):
        ConnectRequest(headers={name: "x"})


@pytest.mark.parametrize("value", ["\r", "\n", "\0", "a\r\ncookie: b=c", "a\nb", "a\n", "a\0b"])
def test_a_value_that_would_end_its_header_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(BadConnectRequestError) as refused:
        ConnectRequest(headers={"x-other": "a", "x-turn": value})

    assert str(refused.value) == "the header 'x-turn' has a CR, a LF or a NUL in it"


def test_a_copy_is_checked_like_the_first() -> None:
    with pytest.raises(BadConnectRequestError):
        replace(ConnectRequest(), headers={"cookie": "a=b"})


def test_others_are_the_dialects_own() -> None:
    headers = {
        "content-type": "application/json",
        "x-turn": "a\t\x7f é",
        "hostage": "",
        "seconds": "2",
    }

    assert ConnectRequest(headers=headers).headers == headers


@pytest.mark.parametrize("path", ["", "/", "/v1/runs/a%20b", "/a:b@c/~d", "//a"])
def test_a_path_is_added_to_the_url(path: str) -> None:
    assert ConnectRequest(path=path).path == path


@pytest.mark.parametrize(
    "path", ["ws://other/x", "a", "@other", ":81/", "/a b", "/a\r\nhost: b", "/a?b=c", "/a#b", "/é"]
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(BadConnectRequestError, match="the path must begin with a slash"):
        ConnectRequest(path=path)
