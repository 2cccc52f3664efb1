"""The keys that approvals are signed with: how many, how long, and never those of tokens."""

from pathlib import Path

import pytest

from gateway.tokens import KEY, NEXT_KEY
from turnwire.config.environ import from_environ
from turnwire.config.lists import signing_keys
from turnwire.errors import SettingsError

GOOD = {
    "TURNWIRE_ENABLED": "true",
    "TURNWIRE_AGENT_URL": "wss://agents.example/{session_id}",
    "TURNWIRE_JWT_KEY": KEY,
}
FIRST = "the first of the keys that sign approvals"
SECOND = "the second of the keys that sign approvals"


def read(**given: str) -> tuple[bytes, ...]:
    return signing_keys(from_environ(GOOD | {f"TURNWIRE_{k}": v for k, v in given.items()}))


def test_there_are_none_unless_they_are_given() -> None:
    assert read() == ()
    assert read(SIGNING_KEYS="") == ()


def test_they_keep_their_order() -> None:
    assert read(SIGNING_KEYS=f"{FIRST} , {SECOND}") == (FIRST.encode(), SECOND.encode())


def test_they_are_read_off_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(f"{FIRST},{SECOND}\n", encoding="utf-8")

    assert read(SIGNING_KEYS_FILE=str(path)) == (FIRST.encode(), SECOND.encode())


def test_they_never_show() -> None:
    settings = from_environ(GOOD | {"TURNWIRE_SIGNING_KEYS": FIRST})

    assert FIRST not in repr(settings)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"SIGNING_KEYS": "k" * 31}, "a key has fewer than 32 bytes"),
        ({"SIGNING_KEYS": f"{FIRST},short"}, "a key has fewer than 32 bytes"),
        ({"SIGNING_KEYS": f"{FIRST},"}, "a key has fewer than 32 bytes"),
        ({"SIGNING_KEYS": KEY}, "a key is in TURNWIRE_JWT_KEY too"),
        (
            {"SIGNING_KEYS": f"{FIRST}, {NEXT_KEY}", "JWT_KEY": f"{KEY}, {NEXT_KEY}"},
            "a key is in TURNWIRE_JWT_KEY too",
        ),
    ],
)
def test_bad_keys_are_refused_without_being_shown(given: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(**given)

    assert refused.value.problems == [f"TURNWIRE_SIGNING_KEYS: {problem}"]


def test_a_key_has_32_bytes_not_characters() -> None:
    assert read(SIGNING_KEYS="é" * 16) == (("é" * 16).encode(),)
