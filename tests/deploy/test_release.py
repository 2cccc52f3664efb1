"""What `make release` makes, without the images."""

import hashlib
import os
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from deploy.parts import DEPLOY, ROOT, as_json, run, tool
from gateway.needed import program
from turnwire import __version__

pytestmark = pytest.mark.timeout(300)  # two builds and three installations
WHEELS: Final = ("turnwire", "turnwire_agent", "turnwire_client", "turnwire_lab")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script itself compares two builds, installs the wheels from the locks and asks them."""
    tool("cyclonedx-py")
    program("git")
    out = tmp_path_factory.mktemp("release") / "dist"
    code, said, wrong = run(["env", "IMAGE=no", DEPLOY / "release.sh", out])
    assert code == 0, said + wrong
    return out


def test_it_has_every_part_and_their_sums(release: Path) -> None:
    names = {path.name for path in release.iterdir()}
    lines = (release / "SHA256SUMS").read_text(encoding="utf-8").splitlines()

    assert names == {
        "NOTES.md",
        "SHA256SUMS",
        f"turnwire-{__version__}.cdx.json",
        f"turnwire-agent-{__version__}.cdx.json",
        *(f"{name}-{__version__}-py3-none-any.whl" for name in WHEELS),
        *(f"{name}-{__version__}.tar.gz" for name in WHEELS),
    }
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert sums == {
        name: hashlib.sha256((release / name).read_bytes()).hexdigest()
        for name in names - {"SHA256SUMS"}
    }


def test_both_images_are_built_for_it_from_one_base() -> None:
    script = (DEPLOY / "release.sh").read_text(encoding="utf-8")
    built = re.findall(r"^ +deploy/docker/build\.sh (\S+) (\S+) (\S+)", script, re.MULTILINE)

    assert built == [
        ("build/image", "gateway", '"$out/turnwire-$version.oci.tar"'),
        ("build/image", "agent", '"$out/turnwire-agent-$version.oci.tar"'),
    ]
    assert script.index("deploy/docker/build.sh") < script.index("sha256sum -- *")


def members(release: Path, name: str) -> tuple[set[str], set[str]]:
    """The files of a wheel, without those that pip keeps about it, and of its sdist."""
    with zipfile.ZipFile(release / f"{name}-{__version__}-py3-none-any.whl") as wheel:
        names = {f"src/{each}" for each in wheel.namelist() if ".dist-info/" not in each}
    with tarfile.open(release / f"{name}-{__version__}.tar.gz") as sdist:
        return names, {each.partition("/")[2] for each in sdist.getnames()}


@pytest.mark.parametrize("name", WHEELS)
def test_a_wheel_has_one_package_and_its_sdist_holds_that(release: Path, name: str) -> None:
    names, held = members(release, name)

    assert {each.split("/")[1] for each in names} == {name}
    assert names <= held


def test_the_demos_page_and_the_widget_are_in_the_labs_and_nothing_else_that_git_ignores(
    release: Path,
) -> None:
    program("npm")
    names, _ = members(release, "turnwire_lab")
    _, told, _ = run(["git", "ls-files", "-co", "--exclude-standard"])
    built = names - set(told.splitlines())

    assert {"web/dist/index.html", "widget/dist/widget.js"} <= {
        name.removeprefix("src/turnwire_lab/") for name in built
    }
    assert all("/web/dist/" in name or name.endswith("/widget.js") for name in built), built
    assert not [name for name in built if name.endswith(".stamp")]


def test_the_notes_are_the_changelogs_section(release: Path) -> None:
    notes = (release / "NOTES.md").read_text(encoding="utf-8")

    assert notes.strip()
    assert f"## [{__version__}]" not in notes
    assert notes in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## " not in notes


@pytest.mark.parametrize(
    ("name", "lock", "some"),
    [
        ("turnwire", "image", {"starlette", "uvicorn", "redis", "cryptography"}),
        ("turnwire-agent", "agent", {"starlette", "psycopg-binary", "pyjwt", "cryptography"}),
    ],
)
def test_a_bill_of_materials_is_the_lock(
    release: Path, name: str, lock: str, some: set[str]
) -> None:
    text = (release / f"{name}-{__version__}.cdx.json").read_text(encoding="utf-8")
    bill: dict[str, Any] = as_json(text)
    lines = (ROOT / f"requirements-{lock}.txt").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9.-]+)(?:\[.*\])?==(\S+)", lines, re.MULTILINE))

    found = {
        (each["name"].lower().replace("_", "-"), each["version"]) for each in bill["components"]
    }
    assert some <= {each for each, _ in found}
    assert {(each, version) for each, version in found if each != name} <= locked
    assert bill["metadata"]["component"]["name"] == name
    assert str(ROOT) not in text
    assert os.path.expanduser("~/") not in text  # noqa: PTH111
    assert msgspec.json.decode(text) == bill
