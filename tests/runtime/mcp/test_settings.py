"""Settings of servers are refused at once, and show no secrets."""

from typing import Any

import pytest

from turnwire_agent.mcp.settings import BadServerError, Endpoint, Program, Server

PLACE = Program(command="server", variables={"KEY": "canary"}, arguments=["--key=canary"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"name": ""}, "1 to 32 letters"),
        ({"name": "a.b"}, "1 to 32 letters"),
        ({"name": "a" * 33}, "1 to 32 letters"),
        ({"call_s": 0}, "more than 0 seconds"),
        ({"connect_s": -1}, "more than 0 seconds"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadServerError, match=words):
        Server(**{"name": "files", "place": PLACE, **settings})


def test_no_secret_is_shown() -> None:
    endpoint = Endpoint(url="https://mcp.example/?key=canary")

    shown = repr([Server(name="a", place=PLACE), Server(name="b", place=endpoint)])

    assert "canary" not in shown
