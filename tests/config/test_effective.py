"""Settings whose default depends on the dialect, or that are JSON."""

from typing import Any

import pytest

from turnwire.config.effective import (
    BadFieldsError,
    agent_auth,
    agent_request,
    history_keeper,
    session_url,
    turn_log_place,
)
from turnwire.config.settings import Settings


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("forward", "agent", "off")),
        ({"dialect": "ag-ui"}, ("forward", "client", "memory")),
        (
            {"dialect": "ag-ui", "agent_auth": "none", "history": "agent", "turn_log": "off"},
            ("none", "agent", "off"),
        ),
    ],
)
def test_what_is_set_counts_and_else_the_default_of_the_wire(
    given: dict[str, Any], expected: tuple[str, ...]
) -> None:
    settings = Settings(**given)

    found = (agent_auth(settings), history_keeper(settings), turn_log_place(settings))
    assert found == expected


def test_fields_of_requests_are_json() -> None:
    fields = agent_request(Settings(agent_request='{"temperature": 0.2, "tools": [{"a": 1}]}'))

    assert {name: bytes(value) for name, value in fields.items()} == {
        "temperature": b"0.2",
        "tools": b'[{"a": 1}]',
    }
    assert agent_request(Settings()) == {}
    with pytest.raises(BadFieldsError):
        agent_request(Settings(agent_request="no"))


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("https://h/v1", "https://h/v1/runs"),
        ("https://h/v1/", "https://h/v1/runs"),
        ("https://h/v1?a=1", "https://h/v1/runs?a=1"),
        ("https://h/v1/runs?a=1", "https://h/v1/runs?a=1"),
        ("https://h/v1/runs/", "https://h/v1/runs/"),
        ("https://h", "https://h/runs"),
        ("https://h/v1/reruns", "https://h/v1/reruns/runs"),
    ],
)
def test_a_path_is_added_unless_it_is_there(url: str, whole: str) -> None:
    assert session_url(Settings(agent_url=url), "s1", "/runs") == whole
