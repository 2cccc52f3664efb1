"""The widget as an npm package: what would be published, and what it asks of who uses it."""

import gzip
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from gateway.needed import lacking, program
from turnwire import __version__
from turnwire_lab.embed.site import BUILT

PACKAGE = BUILT.parents[1]
pytestmark = pytest.mark.sockets
BUDGET = 80_000
"""Bytes of the script as a server sends it, compressed."""
CONSUMER = """
import { mount, type Options, type Widget } from "turnwire-widget";
const needed = { url: "https://gateway.example", session: "s", tokenUrl: "/token" };
const options: Options = { ...needed, theme: "dark" };
export const widget: Widget = mount(options);
// @ts-expect-error no such theme
mount({ ...options, theme: "pink" });
"""


@pytest.fixture(scope="module", autouse=True)
def _widget() -> None:
    BUILT.is_file() or lacking("the widget is not built (`make widget` does it)")


def manifest() -> Any:
    return json.loads((PACKAGE / "package.json").read_text())


def test_what_would_be_published_is_whole(tmp_path: Path) -> None:
    pack = [program("npm"), "pack", "--json", "--ignore-scripts", "--pack-destination"]
    packed = subprocess.run(
        [*pack, str(tmp_path)], cwd=PACKAGE, capture_output=True, text=True, check=True
    )
    (told,) = json.loads(packed.stdout)
    names = {each["path"] for each in told["files"]}
    assert names == {
        "LICENSE",
        "README.md",
        "package.json",
        "dist/index.js",
        "dist/widget.js",
        "dist/types/index.d.ts",
        "dist/types/options.d.ts",
    }
    assert told["version"] == __version__
    assert "dependencies" not in manifest()

    # Whoever installs it has its types, as Node resolves them.
    installed = tmp_path / "node_modules"
    installed.mkdir()
    with tarfile.open(tmp_path / told["filename"]) as tarball:
        tarball.extractall(tmp_path, filter="data")
    (tmp_path / "package").rename(installed / told["name"])
    (tmp_path / "use.ts").write_text(CONSUMER)
    options = ["--noEmit", "--strict", "--module", "nodenext", "--lib", "es2023,dom"]
    tsc = [str(PACKAGE / "node_modules/.bin/tsc"), *options, "--types", "", "use.ts"]
    compiled = subprocess.run(tsc, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stdout


def test_its_lock_names_no_registry_and_its_licence_is_ours() -> None:
    lock = (PACKAGE / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert json.loads(lock)["version"] == manifest()["version"]
    assert (PACKAGE / "LICENSE").read_bytes() == (PACKAGE.parents[2] / "LICENSE").read_bytes()


def test_the_script_is_small_and_makes_no_program_of_text() -> None:
    script = BUILT.read_bytes()
    assert len(gzip.compress(script, 9)) <= BUDGET
    assert b"new Function(" not in script
    assert b"eval(" not in script
