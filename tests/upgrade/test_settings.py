"""The settings of the older version hold for ours; those that are new do not hold for it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from gateway import certificates
from gateway.tokens import KEY, NEXT_KEY, OTHER_KEY
from turnwire.config.settings import variable
from upgrade.older import environ, ran

pytestmark = pytest.mark.sockets

NAMES: Final = """\
import json, typing
from turnwire.settings import ALIASES, SECRETS, Settings, variable
words = {variable(name): [] for name in [f"{name}_file" for name in SECRETS]}
for name, kind in typing.get_type_hints(Settings).items():
    is_words = typing.get_origin(kind) is typing.Literal
    words[variable(name)] = typing.get_args(kind) if is_words else []
print(json.dumps({**words, **{name: [] for name in ALIASES}}))
"""
"""All variables of the older version, and the words of those that have one of some words."""

PORTS: Final = "port=0 metrics_port=0"
WITH_TOKENS: Final = f"""
    enabled=true dialect=v2 agent_url=wss://agents.example/{{session_id}} host=127.0.0.1
    agent_auth=service agent_token=a-token agent_ca_file=ca.pem agent_cert_file=agent.pem
    agent_cert_key_file=agent.key auth=jwt jwt_algorithm=HS256 jwt_key={KEY},{NEXT_KEY}
    jwt_issuer=us jwt_audience=them jwt_leeway_s=30 token_expiry=cut access=claims
    signing_keys={OTHER_KEY} threads=chat on_disconnect=grace tracing=otlp
    rates_url=redis://127.0.0.1:1/0 turns_per_minute=20 log_format=console log_level=debug
    idle_s=100 tool_silence_s=500 question_wait_s=300 queue_wait_s=500 turn_s=3000 keepalive_s=10
    stall_s=15 dial_s=4 verdict_s=4 drain_s=20 lameduck_s=5 grace_s=20 lag_s=0.5
    backlog_bytes=524288 held_bytes=268435456 body_bytes=8388608 frame_bytes=16777216
    attachments=4 attachment_bytes=10000000 attachment_types=image/png,text/*
    attachment_hosts=files.example cors_origins=https://app.example trusted_proxies=10.0.0.0/8
    max_streams=4000 max_streams_per_user=10 event_lines=false usage=true drift=true
    drift_samples=samples record_dir=. record_bytes=131072 record_files=50 record_text=true
"""
WITH_OPAQUE_TOKENS: Final = """
    dialect=session-agent agent_url=ws://agents.example/{session_id} agent_auth=forward
    insecure=true auth=opaque access=http access_url=http://plane.example/{session_id}
    access_cache_s=4 token_expiry=finish threads=shared on_disconnect=continue tracing=off
    log_format=json log_level=warning drift=false
"""
WITH_A_KEY_SET: Final = """
    enabled=true agent_url=ws://127.0.0.1:1/{session_id} agent_auth=none jwt_algorithm=ES256
    jwt_jwks_url=https://keys.example/jwks.json access=open on_disconnect=abort log_format=auto
    log_level=error
"""
WITH_FILES: Final = """
    enabled=true agent_url=wss://agents.example/{session_id} agent_auth=service log_level=info
    jwt_key_file=jwt_key agent_token_file=agent_token signing_keys_file=signing_keys
"""
SETS: Final = (WITH_TOKENS, WITH_OPAQUE_TOKENS, WITH_A_KEY_SET, WITH_FILES)
"""Together they name all variables, and all words that a variable of words may have."""


def parsed(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in f"{PORTS} {text}".split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the files are that the settings name."""
    certificates.authority_and_agent(tmp_path)
    for name, key in {"jwt_key": KEY, "agent_token": "a-token", "signing_keys": OTHER_KEY}.items():
        (tmp_path / name).write_text(key)
    return tmp_path


def checked(
    settings: Mapping[str, object], within: Path, older: Path | None = None
) -> tuple[int, str]:
    """What `turnwire check` of a version says, in a folder."""
    env = environ(settings, older)
    if "TURNWIRE_ENABLED" not in env:
        env["ENABLE_AI_SDK_ADAPTER"] = "true"
    return ran(("-m", "turnwire", "check"), env, within)


def test_the_sets_name_all_variables_of_the_older_version(older: Path, tmp_path: Path) -> None:
    code, answer = ran(("-c", NAMES), environ({}, older), tmp_path)
    assert code == 0
    variables: dict[str, list[str]] = json.loads(answer)
    given = [(variable(name), value) for each in SETS for name, value in parsed(each).items()]

    assert {name for name, _ in given} | {"ENABLE_AI_SDK_ADAPTER"} == variables.keys()
    words = {(name, word) for name, words in variables.items() for word in words}
    # Of all ways to sign, those with a public key are alike in what else they need.
    assert words - set(given) == {("TURNWIRE_JWT_ALGORITHM", name) for name in ("RS256", "EdDSA")}


@pytest.mark.parametrize("which", range(len(SETS)))
def test_what_the_older_version_accepts_ours_accepts(older: Path, folder: Path, which: int) -> None:
    settings = parsed(SETS[which])

    assert checked(settings, folder, older) == (0, "The settings are fine.\n")
    code, answer = checked(settings, folder)
    assert code == 0, answer


def test_a_setting_that_has_no_effect_is_refused_since(older: Path, folder: Path) -> None:
    settings = parsed(WITH_A_KEY_SET) | {"agent_token": "a-token"}

    assert checked(settings, folder, older)[0] == 0
    assert checked(settings, folder) == (
        1,
        "turnwire: TURNWIRE_AGENT_TOKEN: does nothing without TURNWIRE_AGENT_AUTH=service\n",
    )


def test_a_rollback_begins_with_the_settings_that_are_new(older: Path, folder: Path) -> None:
    settings = parsed(WITH_A_KEY_SET) | {"sessions": "apart"}

    assert checked(settings, folder)[0] == 0
    code, problem = checked(settings, folder, older)
    assert code == 1
    assert problem.startswith("turnwire: TURNWIRE_SESSIONS: no such setting")
