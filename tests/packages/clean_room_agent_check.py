"""The runtime's wheel with each of its extras, installed without an index. By `make clean-room`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from packages.clean_room import Room, names
from turnwire import __version__

pytestmark = [pytest.mark.sockets, pytest.mark.long]

MOST_PACKAGES: Final = 14

ALONE: Final = names(
    "anyio certifi click h11 httpcore httpx idna msgspec prometheus-client starlette "
    "turnwire-agent typing-extensions uvicorn websockets"
)
"""All that an install of turnwire-agent without extras has."""

OF_CRYPTOGRAPHY: Final = names("cffi cryptography pycparser")
EXTRAS: Final[Mapping[str, set[str]]] = {
    "mcp": OF_CRYPTOGRAPHY
    | names(
        "annotated-types attrs httpcore2 httpx2 jsonschema jsonschema-specifications mcp mcp-types "
        "opentelemetry-api pydantic pydantic-core pyjwt python-multipart referencing rpds-py "
        "sse-starlette truststore typing-inspection"
    ),
    "postgres": {"psycopg", "psycopg-binary"},
    "schema": {"jsonschema-rs"},
    "sealed": OF_CRYPTOGRAPHY,
    "tokens": OF_CRYPTOGRAPHY | {"pyjwt"},
}
"""What each extra brings beside it."""
ELSEWHERE: Final = {"pydantic-ai"}
"""Extras whose libraries are in no lock of ours. This one is tried in the environment of its
agents, by `tests/runtime/drivers`."""

NEEDY: Final = {
    "turnwire_agent.access.key_set": "pyjwt",
    "turnwire_agent.access.key_set_source": "pyjwt",
    "turnwire_agent.access.public_keys": "pyjwt",
    "turnwire_agent.access.signed_tokens": "pyjwt",
    "turnwire_agent.drivers.pydantic_ai": "pydantic-ai-slim",
    "turnwire_agent.journal.postgres": "psycopg",
    "turnwire_agent.llm.credentials.fernet": "cryptography",
    "turnwire_agent.mcp.library": "mcp",
}
"""Modules, with those in them, and the package that they are for. All others need none of these."""

EVERYTHING: Final = f"turnwire-agent[{','.join(EXTRAS)}]"
INSTALLS: Final[Mapping[str, set[str]]] = {
    "turnwire-agent": set(),
    **{f"turnwire-agent[{extra}]": brings for extra, brings in EXTRAS.items()},
    EVERYTHING: set[str]().union(*EXTRAS.values()),
}

SIGNED: Final = (
    *("generate", "--model", "tiny=ollama:tiny", "--listen", "127.0.0.1:0"),
    *("--token-issuer", "us", "--token-audience", "", "--token-jwks", "{}"),
)
NO_TOKENS: Final = "signed tokens are verified with pip install 'turnwire-agent[tokens]'"
NO_KEYS: Final = "token_jwks: {}: it has no key that verifies tokens"

SEALED: Final = """\
import asyncio
from pathlib import Path
from cryptography.fernet import Fernet
from turnwire_agent.llm.credentials.fernet import fernet_seal
from turnwire_agent.llm.credentials.key_file import KeyFile
Path("seal").write_bytes(Fernet.generate_key())
seal = asyncio.run(fernet_seal(KeyFile(Path("seal"))))
print(seal.decrypt(seal.encrypt(b"a token")))
"""
SCHEMA: Final = """\
from turnwire_agent.tools.arguments import untyped
validate = untyped({"type": "object", "properties": {"day": {"type": "string", "maxLength": 3}}})
print(type(validate('{"day": "Monday"}')).__name__)
"""


def test_each_extra_is_named_here(room: Room) -> None:
    assert set(room.metadata("turnwire-agent", "Provides-Extra")) == EXTRAS.keys() | ELSEWHERE


@pytest.mark.parametrize("wanted", INSTALLS)
def test_an_install_has_what_belongs_into_it_and_works(
    room: Room, wanted: str, tmp_path: Path
) -> None:
    place = room.install(wanted)

    has = room.installed(place)
    assert has == room.closure(wanted)
    assert has == ALONE | INSTALLS[wanted]
    _imports_its_own(room, place, has)
    _runs(room, place)
    _does_what_its_extras_are_for(room, place, has, tmp_path)


def test_without_extras_it_brings_few_packages() -> None:
    assert len(ALONE) <= MOST_PACKAGES


def _imports_its_own(room: Room, place: Path, has: set[str]) -> None:
    seen = room.imports(place, "turnwire_agent", NEEDY)

    assert seen["modules"] > 80
    assert seen["imported"] == []
    assert seen["lacking"] == sorted(name for name, package in NEEDY.items() if package not in has)


def _runs(room: Room, place: Path) -> None:
    command = place / "bin/turnwire-agent"
    assert room.run(command, "--version") == f"turnwire-agent {__version__}\n"
    served = ("generate", "--model", "tiny=ollama:tiny", "--listen", "0.0.0.0:0")
    assert "give --token-file or --token-jwks" in room.ran(command, *served).stderr


def _does_what_its_extras_are_for(room: Room, place: Path, has: set[str], tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": []}))
    signed = room.ran(place / "bin/turnwire-agent", *(each.format(keys) for each in SIGNED))
    code, line = (2, NO_KEYS.format(keys)) if "pyjwt" in has else (1, NO_TOKENS)
    assert (signed.returncode, signed.stdout) == (code, "")
    assert signed.stderr == f"turnwire-agent generate: {line}\n"

    python = (place / "bin/python", "-I", "-c")
    sealed = room.ran(*python, SEALED, cwd=tmp_path)
    if "cryptography" in has:
        assert sealed.stdout == "b'a token'\n"
    else:
        assert sealed.returncode == 1
    # What no other check of a schema looks at.
    checked = room.run(*python, SCHEMA)
    assert checked == ("Invalid\n" if "jsonschema-rs" in has else "Valid\n")
