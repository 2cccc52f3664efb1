"""Settings that would do nothing are told, and so is what they need."""

import importlib.util
import tempfile
import uuid
from pathlib import Path
from typing import Final

import pytest

from gateway.running import settings
from support.telling_dialect import Telling
from turnwire.config.environ import from_environ
from turnwire.config.settings import Settings
from turnwire.dialects import DIALECTS
from turnwire.errors import SettingsError

WSS = "wss://agents.example/{session_id}"
OPAQUE = {"auth": "opaque", "access": "http", "access_url": "https://h/{session_id}", "jwt_key": ""}

NOWHERE: Final = f"{tempfile.gettempdir()}/turnwire-{uuid.uuid4()}"
"""A path that no file has, and that is never written."""

IN_VAIN: list[tuple[dict[str, object], dict[str, object]]] = [
    ({"rates_url": "redis://r"}, {"turns_per_minute": 5}),
    ({"agent_token": "t"}, {"agent_auth": "service"}),
    ({"access_cache_s": 3}, {"access": "http", "access_url": "https://h/{session_id}"}),
    ({"access_url": "https://h/{session_id}"}, {"access": "http"}),
    ({"attachment_bytes": 5}, {"attachments": 1}),
    ({"attachment_types": "image/png"}, {"attachments": 1}),
    ({"attachment_hosts": "a.example"}, {"attachments": 1}),
    ({"drift_samples": NOWHERE}, {"drift": True}),
    ({"record_bytes": 5}, {"record_dir": NOWHERE}),
    ({"record_files": 5}, {"record_dir": NOWHERE}),
    ({"record_text": True}, {"record_dir": NOWHERE}),
    ({"turn_log_bytes": 5}, {"turn_log": "memory"}),
    ({"turn_log_total_bytes": 5}, {"turn_log": "memory"}),
    ({"turn_log_keep_s": 5}, {"turn_log": "memory"}),
    ({"question_keep_s": 5}, {"turn_log": "memory"}),
]
OFF: dict[str, object] = {"attachments": 0, "drift": False}


@pytest.mark.parametrize(("given", "needed"), IN_VAIN)
def test_a_setting_that_does_nothing_is_refused(
    given: dict[str, object], needed: dict[str, object]
) -> None:
    (field,) = given
    off = {name: value for name, value in OFF.items() if name in needed}

    with pytest.raises(SettingsError) as refused:
        settings(WSS, **off, **given)

    (problem,) = refused.value.problems
    assert problem.startswith(f"TURNWIRE_{field.upper()}: does nothing without TURNWIRE_")
    assert isinstance(settings(WSS, **given, **needed), Settings)


@pytest.mark.parametrize("field", ["jwt_issuer", "jwt_audience"])
def test_nothing_is_checked_of_an_opaque_token_here(field: str) -> None:
    with pytest.raises(SettingsError, match="does nothing without TURNWIRE_AUTH=jwt"):
        settings(WSS, **OPAQUE, **{field: "x"})


@pytest.mark.parametrize("field", ["agent_ca_file", "agent_cert_file", "agent_cert_key_file"])
def test_certificates_do_nothing_without_tls(field: str) -> None:
    with pytest.raises(SettingsError, match="does nothing without"):
        settings("ws://127.0.0.1:1/{session_id}", **{field: "/dev/null"})


@pytest.mark.parametrize("name", [name for name, each in DIALECTS.items() if each.keeps_history])
def test_an_agent_that_keeps_the_conversation_is_not_sent_one(name: str) -> None:
    needed = dict.fromkeys(DIALECTS[name].needs, "/work")
    with pytest.raises(SettingsError) as refused:
        settings(WSS, dialect=name, history="client", **needed)

    assert refused.value.problems == [
        f"TURNWIRE_HISTORY: an agent that speaks {name} keeps the conversation"
    ]
    assert settings(WSS, dialect=name, history="agent", **needed).history == "agent"


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        ({"agent_thread": "previous-response"}, "TURNWIRE_HISTORY=agent"),
        ({"agent_thread": "conversation"}, "TURNWIRE_HISTORY=agent"),
        (
            {"agent_thread": "previous-response", "history": "agent", "turn_log": "off"},
            "TURNWIRE_TURN_LOG",
        ),
        ({"agent_thread": "conversation", "history": "agent", "turn_log": "off"}, None),
        ({"agent_thread": "previous-response", "history": "agent"}, None),
    ],
)
def test_a_thread_is_that_of_an_agent_that_keeps_it(
    given: dict[str, object], needed: str | None
) -> None:
    wire = {"dialect": "openai-responses", "agent_auth": "none", "agent_model": "m"}
    url = "http://127.0.0.1:1/v1"

    if needed is None:
        assert isinstance(settings(url, **wire, **given), Settings)
        return
    with pytest.raises(SettingsError) as refused:
        settings(url, **wire, **given)
    assert list(refused.value.problems) == [f"TURNWIRE_AGENT_THREAD: does nothing without {needed}"]


@pytest.mark.parametrize("given", [{"history_messages": 5}, {"client_system": True}])
def test_bounds_of_a_conversation_do_nothing_where_the_agent_keeps_it(
    given: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DIALECTS, Telling.name, Telling())

    for keeps_it in ({}, {"dialect": Telling.name, "history": "agent"}):
        with pytest.raises(SettingsError, match="does nothing without TURNWIRE_HISTORY=client"):
            settings(WSS, **keeps_it, **given)
    assert isinstance(settings(WSS, dialect=Telling.name, **given), Settings)


def test_where_all_is_off_nothing_is_in_vain() -> None:
    assert not settings("", enabled="false", rates_url="redis://r").enabled


def test_one_wrong_value_hides_no_other() -> None:
    with pytest.raises(SettingsError) as refused:
        settings(WSS, turns_per_minute="many", rates_url="redis://r", record_text=True)

    assert [problem.split(":")[0] for problem in refused.value.problems] == [
        "TURNWIRE_TURNS_PER_MINUTE",
        "TURNWIRE_RECORD_TEXT",
    ]


@pytest.mark.parametrize("secret", ["JWT_KEY", "AGENT_TOKEN", "SIGNING_KEYS"])
@pytest.mark.parametrize("content", ["", "\n", "  \n"])
def test_a_file_with_nothing_in_it_is_no_secret(secret: str, content: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(content)

    with pytest.raises(SettingsError) as refused:
        from_environ({f"TURNWIRE_{secret}_FILE": str(file)})

    assert f"TURNWIRE_{secret}_FILE: there is nothing in the file" in refused.value.problems


@pytest.mark.parametrize(
    "place",
    [
        "off",
        "memory",
        "redis://h",
        "rediss://:secret@h:6380/1",
        "redis+cluster://h:7000,h:7001",
        "redis+sentinel://h:26379/name",
    ],
)
def test_where_turns_may_be_kept(place: str) -> None:
    assert settings(WSS, turn_log=place).turn_log == place


@pytest.mark.parametrize("place", ["MEMORY", "on", "http://h", "redis", "redis+odd://:secret@h"])
def test_where_no_turn_can_be_kept(place: str) -> None:
    with pytest.raises(SettingsError) as refused:
        settings(WSS, turn_log=place)

    (problem,) = refused.value.problems
    assert problem == (
        "TURNWIRE_TURN_LOG: must be off, memory, or a URL of "
        "redis:, rediss:, redis+cluster:, rediss+cluster:, redis+sentinel:, rediss+sentinel:"
    )


@pytest.mark.parametrize("lacks", ["redis", "hiredis"])
def test_a_turn_log_in_a_redis_needs_its_libraries(
    monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == lacks else name)

    with pytest.raises(SettingsError, match=r"TURNWIRE_TURN_LOG: needs pip install 'turnwire"):
        settings(WSS, turn_log="redis://h")
