"""The language model as an npm package: what would be published, and what it brings along."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.needed import lacking, program
from turnwire import __version__

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "clients/model"
LONGEST: Final = 500
"""Lines of a file."""


def manifest() -> Any:
    return json.loads((PACKAGE / "package.json").read_text())


@pytest.mark.sockets
def test_what_would_be_published_is_whole() -> None:
    (PACKAGE / "dist/index.js").is_file() or lacking("it is not built (`make model-check` does it)")
    pack = [program("npm"), "pack", "--json", "--ignore-scripts", "--dry-run"]
    packed = subprocess.run(pack, cwd=PACKAGE, capture_output=True, text=True, check=True)
    (published,) = json.loads(packed.stdout)
    modules = [path.stem for path in (PACKAGE / "src").iterdir()]

    assert {each["path"] for each in published["files"]} == {
        "LICENSE",
        "README.md",
        "package.json",
        *(f"dist/{module}{kind}" for module in modules for kind in (".js", ".d.ts")),
    }
    assert published["version"] == __version__


def test_it_has_types_of_the_specification_and_no_library() -> None:
    statements = [
        statement
        for path in (PACKAGE / "src").iterdir()
        for statement in re.findall(r"^(?:im|ex)port [^;]+;", path.read_text(), re.MULTILINE)
        if ' from "' in statement and ' from "./' not in statement
    ]

    assert statements
    for statement in statements:
        assert statement.startswith("import type {")
        assert statement.endswith(' from "@ai-sdk/provider";')
    assert "dependencies" not in manifest()
    assert set(manifest()["peerDependencies"]) == {"@ai-sdk/provider"}


@pytest.mark.parametrize("folder", ["clients/model", "clients/model/tests/mastra"])
def test_a_lock_names_no_registry(folder: str) -> None:
    assert '"resolved"' not in (ROOT / folder / "package-lock.json").read_text()


def test_its_licence_and_its_version_are_ours() -> None:
    lock = json.loads((PACKAGE / "package-lock.json").read_text())

    assert lock["version"] == manifest()["version"] == __version__
    assert (PACKAGE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_its_files_are_short_and_typed() -> None:
    for path in [*PACKAGE.glob("src/*.ts"), *PACKAGE.glob("tests/*.ts")]:
        text = path.read_text()
        assert text.count("\n") <= LONGEST, path
        assert ": any" not in text, path
        assert "as any" not in text, path
