"""The widget as an npm package: what would be published, and what it asks of who uses it."""

import gzip
import json
import re
import subprocess
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
BUILT_WITH = {"vite", "rolldown", "typescript"}
LOADED = """
import * as widget from "turnwire-widget";
import about from "turnwire-widget/package.json" with { type: "json" };
const script = import.meta.resolve("turnwire-widget/widget.js").split("/").slice(-3).join("/");
console.log(JSON.stringify([Object.keys(widget), about.version, script]));
"""
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
        "dist/LICENSES.txt",
        "dist/index.js",
        "dist/widget.js",
        "dist/types/index.d.ts",
        "dist/types/options.d.ts",
    }
    assert told["version"] == __version__
    assert "dependencies" not in manifest()

    # Whoever installs it can load it, and has its types, as Node resolves them.
    install = [program("npm"), "install", "--offline", "--ignore-scripts", "--no-audit"]
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    subprocess.run([*install, f"./{told['filename']}"], cwd=tmp_path, check=True)
    (tmp_path / "load.js").write_text(LOADED)
    load = [program("node"), "--disable-warning=ExperimentalWarning", "load.js"]
    loaded = subprocess.run(load, cwd=tmp_path, capture_output=True, text=True, check=True)
    exports = [["BadOption", "mount"], __version__, "turnwire-widget/dist/widget.js"]
    assert json.loads(loaded.stdout) == exports
    (tmp_path / "use.ts").write_text(CONSUMER)
    options = ["--noEmit", "--strict", "--module", "nodenext", "--lib", "es2023,dom"]
    tsc = [str(PACKAGE / "node_modules/.bin/tsc"), *options, "--types", "", "use.ts"]
    compiled = subprocess.run(tsc, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stdout


def test_it_names_the_libraries_that_its_files_contain_with_their_notices() -> None:
    bundled = json.loads((PACKAGE / "dist/bundled.json").read_text())
    notices = (PACKAGE / "dist/LICENSES.txt").read_text()
    locked = json.loads((PACKAGE / "package-lock.json").read_text())["packages"]
    found = {each["name"]: each["version"] for each in bundled}

    assert {"ai", "marked", "preact", "turnwire-session", "zod"} <= found.keys() - BUILT_WITH
    assert not found.keys() & BUILT_WITH
    assert found.pop("turnwire-session") == __version__
    assert found == {name: locked[f"node_modules/{name}"]["version"] for name in found}
    headings = [f"{each['name']} {each['version']} ({each['license']})" for each in bundled]
    assert re.findall(r"^=+\n(\S+ \S+ \(.+\))\n=+$", notices, re.MULTILINE) == headings
    for name in found:
        for path in (PACKAGE / "node_modules" / name).glob("LICENSE*"):
            assert path.read_text().strip() in notices
    assert (PACKAGE / "licences/Apache-2.0.txt").read_text().strip() in notices
    # Of code that one of them has from others: its build leaves this out.
    assert "Copyright (c) 2019 The Fastify Team" in notices


@pytest.mark.parametrize("name", ["index.js", "widget.js"])
def test_a_file_alone_says_where_its_licences_are_and_nothing_of_who_built_it(name: str) -> None:
    text = (PACKAGE / "dist" / name).read_text()

    assert text.startswith(f"/*! turnwire-widget {__version__} (MIT), with other libraries: see")
    assert "node_modules/" not in text
    assert "#region" not in text


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
