"""The clients' session as an npm package: what would be published, and what it brings along."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.needed import lacking, program
from turnwire import __version__

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "clients/session"
LONGEST: Final = 500
"""Lines of a file."""
pytestmark = pytest.mark.sockets


def manifest() -> Any:
    return json.loads((PACKAGE / "package.json").read_text())


def test_what_would_be_published_is_whole() -> None:
    (PACKAGE / "dist/index.js").is_file() or lacking("it is not built (`make session` does it)")
    pack = [program("npm"), "pack", "--json", "--ignore-scripts", "--dry-run"]
    packed = subprocess.run(pack, cwd=PACKAGE, capture_output=True, text=True, check=True)
    (told,) = json.loads(packed.stdout)
    modules = [path.stem for path in (PACKAGE / "src").iterdir()]

    assert {each["path"] for each in told["files"]} == {
        "LICENSE",
        "README.md",
        "package.json",
        *(f"dist/{module}{kind}" for module in modules for kind in (".js", ".d.ts")),
    }
    assert told["version"] == __version__


def test_a_build_keeps_no_module_that_is_gone(tmp_path: Path) -> None:
    tools = PACKAGE / "node_modules"
    tools.is_dir() or lacking("its tools are not installed (`make session` does it)")
    package = tmp_path / "package"
    left_out = shutil.ignore_patterns("node_modules", "dist", "build")
    shutil.copytree(PACKAGE, package, ignore=left_out)
    (package / "node_modules").symlink_to(tools)
    for built in ("dist", "build/src", "build/tests"):
        (package / built).mkdir(parents=True)
        (package / built / "gone.test.js").touch()

    for script in ("build", "tests"):
        subprocess.run([program("npm"), "run", "--silent", script], cwd=package, check=True)

    assert (package / "dist/index.js").is_file()
    assert (package / "build/tests/tries.test.js").is_file()
    assert not [*package.glob("dist/**/gone.*"), *package.glob("build/**/gone.*")]


def test_it_brings_no_framework_and_no_library_of_its_own() -> None:
    imported = {
        line.split('"')[-2]
        for path in (PACKAGE / "src").iterdir()
        for line in path.read_text().splitlines()
        if " from " in line and line.endswith('";')
    }

    assert {name for name in imported if not name.startswith("./")} == {"ai"}
    assert set(manifest()["peerDependencies"]) == {"ai"}
    assert "dependencies" not in manifest()


def test_its_lock_names_no_registry_and_its_licence_is_ours() -> None:
    lock = (PACKAGE / "package-lock.json").read_text()

    assert '"resolved"' not in lock
    assert json.loads(lock)["version"] == manifest()["version"]
    assert (PACKAGE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_its_files_are_short_and_typed() -> None:
    for path in [*PACKAGE.glob("src/*.ts"), *PACKAGE.glob("tests/*.ts")]:
        text = path.read_text()
        assert text.count("\n") <= LONGEST, path
        assert ": any" not in text, path
        assert "as any" not in text, path
