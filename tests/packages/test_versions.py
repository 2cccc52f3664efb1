"""All that a release has, and all that names one, is of one version."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from turnwire import __version__

ROOT: Final = Path(__file__).parents[2]
NPM: Final = [
    *(path.parent for path in ROOT.glob("clients/*/package.json")),
    ROOT / "src/turnwire_lab/widget",
]
TAG: Final = re.compile(r"newName: \S+/(turnwire\S*)\n +newTag: (\S+)")
NAMED: Final = re.compile(r"(?<![\d.])\d+\.\d+\.\d+(?!\.?\d)")
"""Three numbers, and no address."""
HEADING: Final = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", re.MULTILINE)


def of_npm() -> Iterator[tuple[str, str]]:
    for folder in NPM:
        manifest, lock = (
            json.loads((folder / name).read_text(encoding="utf-8"))
            for name in ("package.json", "package-lock.json")
        )
        yield manifest["name"], manifest["version"]
        yield f"{manifest['name']}, lock", lock["version"]
        yield f"{manifest['name']}, in its lock", lock["packages"][""]["version"]


def of_images() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.glob("deploy/kubernetes/*/kustomization.yaml")):
        for name, tag in TAG.findall(path.read_text(encoding="utf-8")):
            yield f"{name} in {path.parent.name}", tag


def test_every_package_of_npm_and_every_tag_of_an_image_has_the_version_of_the_gateway() -> None:
    found = dict([*of_npm(), *of_images()])

    assert {"turnwire-client", "turnwire-model", "turnwire-session", "turnwire-widget"} <= set(
        found
    )
    assert {"turnwire in production", "turnwire-agent in with-agent"} <= set(found)
    assert {name: each for name, each in found.items() if each != __version__} == {}


@pytest.mark.parametrize("project", [ROOT, *sorted((ROOT / "packages").iterdir())], ids=str)
def test_every_wheel_takes_its_version_from_the_gateway(project: Path) -> None:
    about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))

    assert "version" in about["project"]["dynamic"]
    source = project / about["tool"]["hatch"]["version"]["path"]
    assert source.resolve() == ROOT / "src/turnwire/__init__.py"


def test_the_page_on_deployment_installs_this_version() -> None:
    page = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")

    assert set(NAMED.findall(page)) == {__version__}


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert HEADING.findall(changelog)[:1] == [__version__]
    assert re.findall(r"^## (.+)$", changelog, re.MULTILINE)[0].startswith(f"[{__version__}]")
