"""Settings that a wire needs, or has no use for."""

from typing import Any

import msgspec
import pytest

from gateway.running import settings
from support.telling_dialect import Telling
from turnwire.config.settings import Settings
from turnwire.dialects import DIALECTS
from turnwire.errors import SettingsError

URL = "ws://127.0.0.1:1/{session_id}"


class Needing(Telling):
    name = "needing"
    needs = frozenset({"agent_auth", "agent_model"})
    request_fields = frozenset({"model", "messages"})


@pytest.fixture(autouse=True)
def _wire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, "needing", Needing())
    monkeypatch.setitem(DIALECTS, "telling", Telling())


def problems(**given: Any) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        settings(URL, **given)
    return list(refused.value.problems)


def test_what_a_wire_needs_is_required() -> None:
    assert problems(dialect="needing") == [
        "TURNWIRE_AGENT_AUTH: required by TURNWIRE_DIALECT=needing",
        "TURNWIRE_AGENT_MODEL: required by TURNWIRE_DIALECT=needing",
    ]
    given = {"dialect": "needing", "agent_auth": "none", "agent_model": "m"}
    assert isinstance(settings(URL, **given), Settings)
    assert isinstance(msgspec.structs.replace(settings(URL, **given), enabled=False), Settings)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"agent_model": "m"}, "AGENT_MODEL"),
        ({"agent_cwd": "/x"}, "AGENT_CWD"),
        ({"agent_request": '{"a":1}'}, "AGENT_REQUEST"),
        ({"agent_thread": "conversation", "history": "agent"}, "AGENT_THREAD"),
    ],
)
def test_what_a_wire_does_not_read_is_refused(given: dict[str, Any], field: str) -> None:
    assert problems(dialect="telling", **given) == [
        f"TURNWIRE_{field}: does nothing with TURNWIRE_DIALECT=telling"
    ]


@pytest.mark.parametrize("fields", ["[]", "{", '{"a":[}', "[" * 5_000, "1"])
def test_fields_that_are_no_json_object(fields: str) -> None:
    given = {"dialect": "needing", "agent_auth": "none", "agent_model": "m"}

    assert problems(**given, agent_request=fields) == [
        'TURNWIRE_AGENT_REQUEST: must be a JSON object of fields, like {"temperature": 0.2}'
    ]


def test_fields_that_the_gateway_sets_itself() -> None:
    given = {"dialect": "needing", "agent_auth": "none", "agent_model": "m"}

    assert problems(**given, agent_request='{"model":"x","user":"y","messages":[]}') == [
        "TURNWIRE_AGENT_REQUEST: the gateway sets messages, model itself"
    ]
