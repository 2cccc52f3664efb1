"""The example of a dialect for pi: its own tests run, and it needs only what is promised."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from turnwire import dialect
from turnwire.config.dialect_loading import load

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "examples/dialects/pi"
README: Final = (FOLDER / "README.md").read_text()
CODE: Final = sorted(FOLDER.glob("src/*/*.py"))
TESTS: Final = sorted(FOLDER.glob("tests/*.py"))


def imported(file: Path) -> Iterator[str]:
    """The modules that a file imports; of `from a import b`, both `a` and `a.b`."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def of_turnwire(file: Path) -> set[str]:
    return {name for name in imported(file) if name.split(".")[0] == "turnwire"}


def used(file: Path) -> set[str]:
    """What a file takes from `td`."""
    return {
        node.attr
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "td"
    }


@pytest.mark.sockets
@pytest.mark.timeout(400)
def test_its_own_tests_pass() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cov", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=FOLDER,
        env=os.environ | {"PYTHONPATH": str(FOLDER / "src")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", CODE, ids=lambda file: str(file.name))
def test_it_needs_nothing_of_turnwire_but_the_surface(file: Path) -> None:
    assert of_turnwire(file) <= {"turnwire.dialect"}
    assert used(file) <= set(dialect.__all__)


@pytest.mark.parametrize("file", TESTS, ids=lambda file: str(file.name))
def test_its_tests_need_the_surface_and_the_suite_alone(file: Path) -> None:
    for name in of_turnwire(file):
        assert name in {"turnwire.dialect", "turnwire.testing"} or (
            name.rpartition(".")[0] == "turnwire.testing"
        )


def test_its_package_names_it_by_its_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER / "src")
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]

    points = project["entry-points"]["turnwire.dialects"]
    assert len(points) == 2
    assert {name: load(place).name for name, place in points.items()} == {
        name: name for name in points
    }


def test_its_readme_names_the_tests_of_each_of_the_fourteen_checks() -> None:
    rows = re.findall(r"^\| (\d+) \| .+? \| (`test_.+`) \|$", README, re.MULTILINE)
    named = [name for _, cell in rows for name in re.findall(r"`(test_\w+)`", cell)]
    tests = re.findall(
        r"^def (test_\w+)\(", (FOLDER / "tests/test_fourteen_checks.py").read_text(), re.MULTILINE
    )

    assert [int(number) for number, _ in rows] == list(range(1, 15))
    assert named == tests[: len(named)]
    assert tests[len(named) :] == ["test_a_wire_as_its_schema_has_it_is_no_drift"]


def test_its_readme_says_what_becomes_of_each_event() -> None:
    frames = (FOLDER / "src/pi_dialect/frames.py").read_text()
    known = set(re.findall(r'tag="(\w+)"', frames))
    (listed,) = re.findall(r"_NOT_SHOWN: Final = td\.names\(\n(.+?)\n\)", frames, re.DOTALL)
    known |= set(re.findall(r"\w+_\w+", listed))
    (table,) = re.findall(r"\n## What becomes of what\n(.+?)\n\n[^|\n]", README, re.DOTALL)

    assert known <= set(re.findall(r"`(\w+)`", table))
    assert len(known) == 26
