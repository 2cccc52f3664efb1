"""The clients' transport as an npm package: what would be published, and what it brings along."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.needed import lacking, program
from turnwire import __version__

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "clients/client"
LONGEST: Final = 250
"""Lines of a file."""
OF_REACT: Final = {"@ai-sdk/react", "react"}


def manifest() -> Any:
    return json.loads((PACKAGE / "package.json").read_text())


def imported(module: str) -> set[str]:
    """The libraries that a module uses when it runs: types are gone by then."""
    text = (PACKAGE / "src" / module).read_text()
    statements = re.findall(r"^(?:im|ex)port (?!type )[^;]+ from \"([^\"]+)\";", text, re.MULTILINE)
    return {name for name in statements if not name.startswith("./")}


@pytest.mark.sockets
def test_what_would_be_published_is_whole() -> None:
    (PACKAGE / "dist/index.js").is_file() or lacking("it is not built (`make client-check` does)")
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


def test_it_has_no_dependencies_and_only_its_hook_uses_a_library() -> None:
    modules = [path.name for path in (PACKAGE / "src").iterdir()]

    assert {module: used for module in modules if (used := imported(module))} == {
        "react.ts": OF_REACT,
        "waiting.ts": {"ai"},
    }
    index = (PACKAGE / "src/index.ts").read_text()
    assert "waiting" not in index
    assert "dependencies" not in manifest()
    assert manifest()["peerDependencies"] == {
        "@ai-sdk/react": "^2.0.2 || ^3 || ^4",
        "ai": "^5.0.2 || ^6 || ^7",
        "react": ">=18",
    }
    assert set(manifest()["peerDependenciesMeta"]) == OF_REACT


@pytest.mark.parametrize("name", ["isSame", "filesOf"])
def test_it_finds_a_prompt_by_its_content_as_the_session_does(name: str) -> None:
    """The packages have no file in common, since each is built by the compiler alone."""
    rule = re.compile(rf"^function {name}\(.*?^}}", re.DOTALL | re.MULTILINE)
    ours = rule.search((PACKAGE / "src/arrival.ts").read_text())
    theirs = rule.search((ROOT / "clients/session/src/unsent.ts").read_text())

    assert ours is not None
    assert theirs is not None
    assert ours[0] == theirs[0]


def test_its_readme_names_the_releases_that_are_tested() -> None:
    readme = (PACKAGE / "README.md").read_text()
    named = dict(re.findall(r"^\| ([\d.]+) \| ([\d.]+) \|$", readme, re.MULTILINE))
    suites = [path.read_text() for path in PACKAGE.glob("tests/react*.test.ts")]
    tested = {version for text in suites for version in re.findall(r'Of\("v([\d.]+)"\)', text)}
    pins = {version: ROOT / f"tests/clients/v{version}/package.json" for version in tested}
    pinned = {
        version: json.loads(path.read_text())["dependencies"] for version, path in pins.items()
    }

    assert named == {each["ai"]: each["@ai-sdk/react"] for each in pinned.values()}
    assert tested == named.keys()


def test_its_lock_names_no_registry() -> None:
    assert '"resolved"' not in (PACKAGE / "package-lock.json").read_text()


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
