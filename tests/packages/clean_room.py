"""Environments of our wheels and of the libraries in `.venv/wheels`, made without an index."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from email.parser import Parser
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT: Final = Path(__file__).parents[2]
LIBRARIES: Final = ROOT / ".venv/wheels"
PROJECTS: Final = (
    ".",
    "packages/turnwire-agent",
    "packages/turnwire-client",
    "packages/turnwire-lab",
)


def names(text: str) -> set[str]:
    return set(text.split())


FOREIGN: Final = names(
    "agents agno anthropic autogen crewai dspy google haystack hiredis langchain langchain_core "
    "langgraph litellm llama_index mcp openai opentelemetry pydantic_ai redis requests "
    "semantic_kernel smolagents strands"
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
    except ImportError:
        lacking[name] = next(each for each in needy if f"{name}.".startswith(f"{each}."))
found = [name for name in foreign if importlib.util.find_spec(name) is not None]
print(json.dumps({"modules": len(names), "imported": imported, "found": sorted(found),
                  "lacking": sorted(set(lacking.values()))}))
"""
"""Imports all modules of a package: those that need no extra first."""


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
        asked = [Requirement(each) for each in self.metadata(name, "Requires-Dist")]
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

    def imports(self, place: Path, package: str, needy: Iterable[str]) -> dict[str, Any]:
        """What happens when all modules of a package are imported.

        Args:
            place: An environment.
            package: What is imported.
            needy: Modules, with those in them, that need an extra. They come last.
        """
        told = json.dumps([package, list(needy), sorted(FOREIGN)])
        options = ["-I", "-X", f"pycache_prefix={self.compiled}"]
        answer: dict[str, Any] = json.loads(
            self.run(place / "bin/python", *options, "-c", IMPORTS, told)
        )
        return answer

    def metadata(self, name: str, field: str) -> list[str]:
        """What a distribution says of itself."""
        with ZipFile(self.wheels[name]) as archive:
            (path,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
            return Parser().parsestr(archive.read(path).decode()).get_all(field, [])
