"""Settings: what each variable means, what is refused, and what never shows."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from config.given import GOOD, problems
from gateway.tokens import KEY, NEXT_KEY
from turnwire.config.environ import from_environ
from turnwire.config.lists import keys
from turnwire.config.settings import LAB_PREFIX, SECRETS, Settings, variable
from turnwire.core.turn.limits import POLICIES, DisconnectPolicy
from turnwire.dialects import DIALECTS
from turnwire.errors import SettingsError

DEFAULTS: dict[str, Any] = {
    "TURNWIRE_ENABLED": False,
    "TURNWIRE_HOST": "127.0.0.1",
    "TURNWIRE_PORT": 8787,
    "TURNWIRE_METRICS_PORT": 9787,
    "TURNWIRE_AGENT_URL": "",
    "TURNWIRE_AGENT_AUTH": None,
    "TURNWIRE_AGENT_MODEL": "",
    "TURNWIRE_AGENT_THREAD": None,
    "TURNWIRE_AGENT_REQUEST": "",
    "TURNWIRE_AGENT_TOKEN": "",
    "TURNWIRE_AGENT_HEADERS": "",
    "TURNWIRE_AGENT_CA_FILE": "",
    "TURNWIRE_AGENT_CERT_FILE": "",
    "TURNWIRE_AGENT_CERT_KEY_FILE": "",
    "TURNWIRE_DIALECT": "v2",
    "TURNWIRE_INSECURE": False,
    "TURNWIRE_AUTH": "jwt",
    "TURNWIRE_JWT_ALGORITHM": "HS256",
    "TURNWIRE_JWT_KEY": "",
    "TURNWIRE_JWT_JWKS_URL": "",
    "TURNWIRE_JWT_ISSUER": "",
    "TURNWIRE_JWT_AUDIENCE": "",
    "TURNWIRE_JWT_LEEWAY_S": 0,
    "TURNWIRE_TOKEN_EXPIRY": "finish",
    "TURNWIRE_SIGNING_KEYS": "",
    "TURNWIRE_ANSWERS": "asker",
    "TURNWIRE_ACCESS": "claims",
    "TURNWIRE_ACCESS_URL": "",
    "TURNWIRE_ACCESS_CACHE_S": 5,
    "TURNWIRE_IDLE_S": None,
    "TURNWIRE_TOOL_SILENCE_S": 600,
    "TURNWIRE_QUESTION_WAIT_S": 330,
    "TURNWIRE_QUEUE_WAIT_S": 600,
    "TURNWIRE_TURN_S": 3600,
    "TURNWIRE_KEEPALIVE_S": 15,
    "TURNWIRE_STALL_S": 20,
    "TURNWIRE_DIAL_S": 5,
    "TURNWIRE_VERDICT_S": 5,
    "TURNWIRE_DRAIN_S": 30,
    "TURNWIRE_LAMEDUCK_S": 0,
    "TURNWIRE_BACKLOG_BYTES": 1024**2,
    "TURNWIRE_BODY_BYTES": 16 * 1024**2,
    "TURNWIRE_FRAME_BYTES": 32 * 1024**2,
    "TURNWIRE_ATTACHMENTS": 8,
    "TURNWIRE_ATTACHMENT_BYTES": 12_000_000,
    "TURNWIRE_ATTACHMENT_TYPES": "image/*,audio/*,application/pdf,text/*,application/json",
    "TURNWIRE_ATTACHMENT_HOSTS": "",
    "TURNWIRE_MAX_STREAMS": 8000,
    "TURNWIRE_MAX_STREAMS_PER_USER": 20,
    "TURNWIRE_TURNS_PER_MINUTE": 0,
    "TURNWIRE_RATES_URL": "",
    "TURNWIRE_LAG_S": 1.0,
    "TURNWIRE_HELD_BYTES": 201_326_592,
    "TURNWIRE_HELD_BYTES_PER_USER": 35_651_584,
    "TURNWIRE_SESSIONS": None,
    "TURNWIRE_STATE": "off",
    "TURNWIRE_HISTORY": None,
    "TURNWIRE_HISTORY_MESSAGES": 500,
    "TURNWIRE_CLIENT_SYSTEM": False,
    "TURNWIRE_THREADS": "shared",
    "TURNWIRE_ON_DISCONNECT": "abort",
    "TURNWIRE_ON_DISCONNECT_ALLOWED": "",
    "TURNWIRE_GRACE_S": 30,
    "TURNWIRE_CORS_ORIGINS": "",
    "TURNWIRE_TRUSTED_PROXIES": "",
    "TURNWIRE_EVENT_LINES": True,
    "TURNWIRE_USAGE": False,
    "TURNWIRE_LOG_FORMAT": "auto",
    "TURNWIRE_LOG_LEVEL": "info",
    "TURNWIRE_TRACING": "off",
    "TURNWIRE_DRIFT": True,
    "TURNWIRE_DRIFT_SAMPLES": "",
    "TURNWIRE_RECORD_DIR": "",
    "TURNWIRE_RECORD_BYTES": 262_144,
    "TURNWIRE_RECORD_FILES": 100,
    "TURNWIRE_RECORD_TEXT": False,
    "TURNWIRE_TURN_LOG": "",
    "TURNWIRE_TURN_LOG_BYTES": 8_388_608,
    "TURNWIRE_TURN_LOG_TOTAL_BYTES": 134_217_728,
    "TURNWIRE_TURN_LOG_KEEP_S": 60.0,
    "TURNWIRE_QUESTION_KEEP_S": 86_400.0,
    "TURNWIRE_SESSION_KEEP_S": 2_592_000,
    "TURNWIRE_AGENT_CWD": "",
}


def test_every_variable_has_the_default_that_people_rely_on() -> None:
    settings = from_environ({})

    assert {
        variable(name): value for name, value in msgspec.structs.asdict(settings).items()
    } == DEFAULTS


@pytest.mark.parametrize(
    ("name", "given", "read"),
    [
        ("ENABLED", "TRUE", True),
        ("ENABLED", "1", True),
        ("ENABLED", "0", False),
        ("HOST", "::1", "::1"),
        ("PORT", "0", 0),
        ("METRICS_PORT", "0", 0),
        ("IDLE_S", "0.5", 0.5),
        ("IDLE_S", "7", 7.0),
        ("LAMEDUCK_S", "0", 0.0),
        ("MAX_STREAMS", "0", 0),
        ("ATTACHMENTS", "0", 0),
        ("ATTACHMENT_TYPES", "image/*, Image/SVG+xml", "image/*, Image/SVG+xml"),
        ("ATTACHMENT_TYPES", "", ""),
        ("ATTACHMENT_HOSTS", "a.example, B.example", "a.example, B.example"),
        ("EVENT_LINES", "false", False),
        ("ON_DISCONNECT", "continue", "continue"),
        ("ON_DISCONNECT_ALLOWED", "grace, Continue", "grace, Continue"),
        ("AGENT_AUTH", "none", "none"),
        ("ACCESS", "open", "open"),
        ("JWT_LEEWAY_S", "300", 300.0),
    ],
)
def test_a_value_is_read(name: str, given: str, read: object) -> None:
    settings = from_environ(GOOD | {f"TURNWIRE_{name}": given})

    assert getattr(settings, name.lower()) == read


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("ENABLED", ""),
        ("ENABLED", "yes please"),
        ("HOST", ""),
        ("PORT", "http"),
        ("PORT", "-1"),
        ("PORT", "65536"),
        ("PORT", "80.5"),
        ("DIALECT", "v3"),
        ("HISTORY", "nobody"),
        ("HISTORY_MESSAGES", "0"),
        ("AUTH", "basic"),
        ("JWT_ALGORITHM", "none"),
        ("ACCESS", "everybody"),
        ("AGENT_AUTH", "both"),
        ("ON_DISCONNECT", "shrug"),
        ("ANSWERS", "everybody"),
        ("ON_DISCONNECT", "let_go"),
        ("ON_DISCONNECT_ALLOWED", "grace,shrug"),
        ("ON_DISCONNECT_ALLOWED", "let_go"),
        ("IDLE_S", "0"),
        ("IDLE_S", "-1"),
        ("IDLE_S", "nan"),
        ("IDLE_S", "soon"),
        ("STALL_S", "inf"),
        ("STALL_S", "1e10"),
        ("DRAIN_S", "inf"),
        ("LAMEDUCK_S", "-1"),
        ("LAMEDUCK_S", "inf"),
        ("JWT_LEEWAY_S", "301"),
        ("ACCESS_CACHE_S", "-1"),
        ("ACCESS_CACHE_S", "61"),
        ("ACCESS_CACHE_S", "nan"),
        ("BODY_BYTES", "0"),
        ("FRAME_BYTES", "big"),
        ("MAX_STREAMS", "-1"),
        ("ATTACHMENTS", "-1"),
        ("ATTACHMENT_BYTES", "0"),
        ("ATTACHMENT_TYPES", "image"),
        ("ATTACHMENT_TYPES", "image/png,*/*"),
        ("ATTACHMENT_TYPES", "image/png;q=1"),
        ("ATTACHMENT_HOSTS", "https://a.example"),
        ("ATTACHMENT_HOSTS", "a.example:443"),
        ("ATTACHMENT_HOSTS", "*.a.example"),
        ("TRUSTED_PROXIES", "*"),
        ("TRUSTED_PROXIES", "0.0.0.0/0"),
        ("TRUSTED_PROXIES", "10.0.0.0/8, proxy.example"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line_that_names_its_variable(
    name: str, given: str
) -> None:
    (problem,) = problems(**{name: given})

    assert problem.startswith(f"TURNWIRE_{name}: ")
    assert "\n" not in problem


@pytest.mark.parametrize(
    "name",
    [
        "TURNWIRE_",
        "TURNWIRE_HOST_FILE",
        "TURNWIRE_SERVICE_HOST",
        "TURNWIRE_FILE",
        "TURNWIRE_LAB",
    ],
)
def test_an_unknown_variable_is_refused(name: str) -> None:
    with pytest.raises(SettingsError) as refused:
        from_environ({**GOOD, name: "1"})

    assert refused.value.problems == [f"{name}: no such setting"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("IDEL_S", "IDLE_S"),
        ("AGENTURL", "AGENT_URL"),
        ("JWT_KYE_FILE", "JWT_KEY_FILE"),
        ("KEEPALIVE", "KEEPALIVE_S"),
    ],
)
def test_the_setting_that_was_meant_is_named(given: str, meant: str) -> None:
    (problem,) = problems(**{given: "1"})

    assert problem == f"TURNWIRE_{given}: no such setting; did you mean TURNWIRE_{meant}?"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("turnwire_port", "TURNWIRE_PORT"),
        ("turnwire_IDLE_S", "TURNWIRE_IDLE_S"),
        ("turnwire_host", "TURNWIRE_HOST"),
        ("enable_ai_sdk_adapter", "ENABLE_AI_SDK_ADAPTER"),
        ("Turnwire_Jwt_Key_File", "TURNWIRE_JWT_KEY_FILE"),
    ],
)
def test_the_name_of_a_setting_in_lower_case_is_refused(name: str, meant: str) -> None:
    with pytest.raises(SettingsError) as refused:
        from_environ({**GOOD, name: "1"})

    assert refused.value.problems == [f"{name}: no such setting; did you mean {meant}?"]


@pytest.mark.parametrize(
    "name",
    [
        *("turnwire_home", "turnwire_lab_port", "turnwire", "mturnwire_port", "turnwire_ports"),
        *("turnwire_hosts", "turnwire_AGENTURL", "turnwire_port_file", "turnwire_"),
    ],
)
def test_another_name_in_lower_case_is_somebody_elses_however_similar(name: str) -> None:
    assert from_environ({**GOOD, name: "1"}) == from_environ(GOOD)


def test_everything_wrong_is_told_at_once() -> None:
    told = problems(port="x", idle_s="-1", idel_s="1")

    assert [line.split(":")[0] for line in told] == [
        "TURNWIRE_IDEL_S",
        "TURNWIRE_PORT",
        "TURNWIRE_IDLE_S",
    ]


def test_variables_of_others_and_of_the_lab_are_left_alone() -> None:
    others = {"PATH": "/bin", "turnwire_home": "x", "TURNWIREX": "x", f"{LAB_PREFIX}MODEL": "x"}

    assert from_environ(GOOD | others) == from_environ(GOOD)


def test_the_flag_has_a_second_name_and_its_own_wins_in_any_order() -> None:
    rest = {name: value for name, value in GOOD.items() if name != "TURNWIRE_ENABLED"}

    assert from_environ({**rest, "ENABLE_AI_SDK_ADAPTER": "true"}).enabled
    assert not from_environ({"ENABLE_AI_SDK_ADAPTER": "true", "TURNWIRE_ENABLED": "0"}).enabled
    assert not from_environ({"TURNWIRE_ENABLED": "0", "ENABLE_AI_SDK_ADAPTER": "true"}).enabled


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_may_come_from_a_file(
    secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DIALECTS["v2"], "request_fields", frozenset({"model"}), raising=False)
    file = tmp_path / "secret"
    values = {"turn_log": f"redis://:{NEXT_KEY}@h", "agent_headers": '{"x-key": "hush"}'}
    values["agent_request"] = '{"user": "hush"}'
    value = values.get(secret, NEXT_KEY)
    file.write_text(f"  {value}\n")
    rest = {name: value for name, value in GOOD.items() if name != variable(secret)}
    if secret == "agent_token":
        rest["TURNWIRE_AGENT_AUTH"] = "service"

    settings = from_environ({**rest, f"{variable(secret)}_FILE": str(file)})

    assert getattr(settings, secret) == value


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["absent", "not text"])
def test_a_file_that_cannot_be_read_is_told_without_its_content(
    content: bytes | None, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)

    (problem,) = problems(agent_token_file=str(file))

    assert problem.startswith("TURNWIRE_AGENT_TOKEN_FILE: cannot be read (")


@pytest.mark.parametrize("first", [True, False])
def test_a_secret_given_twice_is_refused(
    first: bool,  # noqa: FBT001 (a table's column)
    tmp_path: Path,
) -> None:
    file = {"TURNWIRE_JWT_KEY_FILE": str(tmp_path)}
    with pytest.raises(SettingsError, match="TURNWIRE_JWT_KEY is set too"):
        from_environ(file | GOOD if first else GOOD | file)


@pytest.mark.parametrize("first", [True, False])
def test_an_empty_secret_is_as_good_as_none_beside_its_file(
    first: bool,  # noqa: FBT001 (a table's column)
    tmp_path: Path,
) -> None:
    key = tmp_path / "key"
    key.write_text(GOOD["TURNWIRE_JWT_KEY"])
    file, empty = {"TURNWIRE_JWT_KEY_FILE": str(key)}, {"TURNWIRE_JWT_KEY": ""}
    rest = {name: value for name, value in GOOD.items() if name not in empty}

    settings = from_environ(file | empty | rest if first else rest | empty | file)

    assert settings.jwt_key == GOOD["TURNWIRE_JWT_KEY"]


def test_no_secret_shows_in_a_repr() -> None:
    service = {"TURNWIRE_AGENT_AUTH": "service", "TURNWIRE_AGENT_TOKEN": "hush-hush"}
    shown = repr(from_environ(GOOD | service))

    assert KEY not in shown
    assert "hush" not in shown
    assert "idle_s=None" in shown
    assert set(SECRETS) - {"turn_log", "agent_request"} == {
        name
        for name in Settings.__struct_fields__
        if re.search("keys?$|token$|secret|headers$", name)
    }


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"agent_url": ""}, "AGENT_URL"),
        ({"jwt_key": ""}, "JWT_KEY"),
        ({"jwt_key": "x" * 31}, "JWT_KEY"),
        ({"jwt_key": f"{KEY},short"}, "JWT_KEY"),
        ({"jwt_key": f"{KEY},"}, "JWT_KEY"),
        ({"agent_auth": "service"}, "AGENT_TOKEN"),
        ({"access": "open", "host": "0.0.0.0"}, "ACCESS"),  # noqa: S104 (it is refused)
        ({"access": "open", "host": "::"}, "ACCESS"),
        ({"access": "open", "host": "example.com"}, "ACCESS"),
        ({"port": "9787"}, "METRICS_PORT"),
        ({"agent_url": "https://h/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "wss:///{session_id}"}, "AGENT_URL"),
        ({"agent_url": "agents.example/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "wss://h:port/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "wss://h:99999/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "wss://[::1/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "wss://u:p@h/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "wss://h/{session_id}#x"}, "AGENT_URL"),
        ({"agent_url": "wss://h/ {session_id}"}, "AGENT_URL"),
        ({"agent_url": "wss://h/\x01{session_id}"}, "AGENT_URL"),
        ({"agent_url": "wss://h/ws"}, "AGENT_URL"),
        ({"agent_url": "wss://{session_id}/ws"}, "AGENT_URL"),
        ({"agent_url": "wss://h.{session_id}/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "ws://agents.example/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "ws://127.0.0.1.evil.example/{session_id}"}, "AGENT_URL"),
        ({"agent_url": "ws://localhost.evil.example/{session_id}"}, "AGENT_URL"),
        ({"auth": "opaque"}, "AUTH"),
        ({"auth": "opaque", "access": "open"}, "AUTH"),
        ({"auth": "opaque", "enabled": "false"}, "AUTH"),
        ({"access": "http"}, "ACCESS_URL"),
        *(
            ({"access": "http", "access_url": url}, "ACCESS_URL")
            for url in (
                "wss://h/{session_id}",
                "https:///{session_id}",
                "h/{session_id}",
                "https://h:port/{session_id}",
                "https://[::1/{session_id}",
                "https://u:p@h/{session_id}",
                "https://h/{session_id}#x",
                "https://h/ {session_id}",
                "https://h/\x7f{session_id}",
                "https://h\u00e9/{session_id}",
                "https://h/access",
                "https://{session_id}/access",
                "https://h.{session_id}/{session_id}",
                "http://h/{session_id}",
                "http://127.0.0.1.evil.example/{session_id}",
            )
        ),
        # The user's token travels there, whatever goes to the agent.
        (
            {"access": "http", "access_url": "http://h/{session_id}", "agent_auth": "none"},
            "ACCESS_URL",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, str], named: str) -> None:
    (problem,) = problems(**given)

    assert problem.startswith(f"TURNWIRE_{named}: ")


@pytest.mark.parametrize(
    "given",
    [
        {"agent_url": "ws://127.0.0.1:1/{session_id}"},
        {"agent_url": "ws://[::1]:1/{session_id}"},
        {"agent_url": "ws://localhost/?s={session_id}"},
        {"agent_url": "ws://agents.example/{session_id}", "insecure": "true"},
        {"agent_url": "ws://agents.example/{session_id}", "agent_auth": "none"},
        {"agent_auth": "service", "agent_token": "t"},
        {"access": "open", "host": "::1"},
        {"access": "open", "host": "localhost"},
        {"port": "0", "metrics_port": "0"},
        {"enabled": "false", "agent_url": "", "jwt_key": ""},
        {"access": "http", "access_url": "https://h/api/sessions/{session_id}/access"},
        {"access": "http", "access_url": "http://[::1]:1/?s={session_id}", "auth": "opaque"},
        {"access": "http", "access_url": "http://h/{session_id}", "insecure": "true"},
        {
            "access": "http",
            "access_url": "https://h/{session_id}",
            "auth": "opaque",
            "jwt_key": "",
        },
    ],
)
def test_what_goes_together_is_taken(given: dict[str, str]) -> None:
    from_environ(GOOD | {variable(name): value for name, value in given.items()})


def test_several_keys_are_taken_apart_for_rotation() -> None:
    assert keys(from_environ(GOOD | {"TURNWIRE_JWT_KEY": f" {KEY} , {NEXT_KEY}"})) == [
        KEY.encode(),
        NEXT_KEY.encode(),
    ]


def test_every_field_says_what_it_is() -> None:
    for field in msgspec.structs.fields(Settings):
        (meta,) = [m for m in field.type.__metadata__ if m.description]

        assert meta.description.endswith("."), field.name


@pytest.mark.parametrize("policy", DisconnectPolicy)
def test_a_policy_is_taken_if_a_request_may_have_it(policy: DisconnectPolicy) -> None:
    given = GOOD | {"TURNWIRE_ON_DISCONNECT": policy.value}
    if policy.value in POLICIES:
        assert from_environ(given).on_disconnect == policy.value
    else:
        with pytest.raises(SettingsError, match="must be one of abort, grace, continue"):
            from_environ(given)
