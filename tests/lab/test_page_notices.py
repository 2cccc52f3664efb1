"""The demo's page in the lab's wheel: whose code its script has, and under which licences."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.needed import lacking
from turnwire import __version__
from turnwire_lab.page.serving import BUILT

SOURCES: Final = BUILT.parent
LICENCES: Final = SOURCES.parent / "widget/licences"
BUILT_WITH: Final = {"@vitejs/plugin-react", "typescript", "vite"}
BESIDES: Final = {"turnwire-session": __version__}
"""What is ours, and in no lock."""


@pytest.fixture(scope="module")
def notices() -> str:
    path = BUILT / "LICENSES.txt"
    path.is_file() or lacking("the page is not built (`make page` does it)")
    return path.read_text()


def named(notices: str) -> list[tuple[str, str, str]]:
    """The name, version and licence of each library."""
    return re.findall(r"^=+\n(\S+) (\S+) \((.+)\)\n=+$", notices, re.MULTILINE)


def locked() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((SOURCES / "package-lock.json").read_text())[
        "packages"
    ]
    return found


def test_it_names_the_libraries_that_its_script_contains(notices: str) -> None:
    packages = locked()
    found = {name: version for name, version, _ in named(notices)}

    assert {"ai", "react", "react-dom", "rolldown", "turnwire-session", "zod"} <= found.keys()
    assert not found.keys() & BUILT_WITH
    versions = {
        name: packages[f"node_modules/{name}"]["version"] for name in found.keys() - BESIDES
    }
    assert found == versions | BESIDES


def test_what_the_page_depends_on_is_in_it_or_only_checks_it(notices: str) -> None:
    names = {name for name, _, _ in named(notices)}
    needed = locked()[""]["dependencies"].keys()

    assert needed - names == {"@assistant-ui/react-ai-sdk"}  # it hands on what another one has


def test_each_has_its_notice_or_the_text_of_its_licence(notices: str) -> None:
    for name, _, licence in named(notices):
        if name in BESIDES:
            continue
        files = [*(SOURCES / "node_modules" / name).glob("[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*")]
        for path in files:
            assert path.read_text().strip() in notices, name
        if not files or licence == "Apache-2.0":
            assert (LICENCES / f"{licence}.txt").read_text().strip() in notices, name
    # Of code that one of them has from others: its build leaves this out.
    assert "Copyright (c) 2019 The Fastify Team" in notices


def test_the_script_alone_says_where_its_licences_are() -> None:
    scripts: list[Path] = sorted((BUILT / "assets").glob("*.js"))

    assert scripts or lacking("the page is not built (`make page` does it)")
    for script in scripts:
        assert script.read_text().startswith("/*! The demo's page of turnwire (MIT), with other")
