"""What `make release` makes, without the images."""

import hashlib
import os
import re
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from deploy.parts import DEPLOY, ROOT, as_json, run, tool
from gateway.needed import program
from turnwire import __version__

pytestmark = pytest.mark.timeout(900)  # two builds and four installations, on a busy machine
WHEELS: Final = ("turnwire", "turnwire_agent", "turnwire_client", "turnwire_lab")
NPM_BILL: Final = ".npm.cdx.json"
WIDGET: Final = "src/turnwire_lab/widget"
BILLS: Final = ("turnwire", "turnwire-agent", "turnwire-client")


def npm_packages() -> dict[str, dict[str, Any]]:
    """The packages of `clients/` that npm may publish, and the widget; none without npm."""
    if shutil.which("npm") is None:
        return {}
    paths = [*ROOT.glob("clients/*/package.json"), ROOT / WIDGET / "package.json"]
    manifests = [as_json(path.read_text()) for path in paths]
    return {each["name"]: each for each in manifests if not each.get("private")}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script itself compares two builds, installs the wheels from the locks and asks them."""
    tool("cyclonedx-py")
    program("git")
    out = tmp_path_factory.mktemp("release") / "dist"
    code, said, wrong = run(["env", "IMAGE=no", DEPLOY / "release.sh", out], within_s=900)
    assert code == 0, said + wrong
    return out


def test_it_has_every_part_and_their_sums(release: Path) -> None:
    names = {path.name for path in release.iterdir()}
    lines = (release / "SHA256SUMS").read_text(encoding="utf-8").splitlines()

    assert names == {
        "NOTES.md",
        "SHA256SUMS",
        *(f"{name}-{__version__}.cdx.json" for name in BILLS),
        *(f"{name}-{__version__}{end}" for name in npm_packages() for end in (".tgz", NPM_BILL)),
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

    of_widget = {f"{WIDGET}/dist/{name}" for name in ("widget.js", "LICENSES.txt")}
    page = {name for name in built if name.startswith("src/turnwire_lab/web/dist/")}
    assert "src/turnwire_lab/web/dist/index.html" in page
    assert built - page == of_widget
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
        ("turnwire-client", "client", {"httpx", "msgspec", "anyio"}),
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
    component = bill["metadata"]["component"]
    assert (component["name"], component["version"]) == (name, __version__)
    assert str(ROOT) not in text
    assert os.path.expanduser("~/") not in text  # noqa: PTH111
    assert msgspec.json.decode(text) == bill


def test_the_client_brings_nothing_of_the_gateway() -> None:
    lines = (ROOT / "requirements-client.txt").read_text(encoding="utf-8")

    assert not re.search(r"^(starlette|uvicorn|websockets)==", lines, re.MULTILINE)


def test_a_package_of_npm_is_what_its_manifest_names(release: Path) -> None:
    program("npm")
    for name, manifest in npm_packages().items():
        with tarfile.open(release / f"{name}-{__version__}.tgz") as packed:
            names = {each.removeprefix("package/") for each in packed.getnames()}

        exported = manifest["exports"]["."]["default"].removeprefix("./")
        assert {"package.json", exported, manifest["types"].removeprefix("./")} <= names
        tops = {each.partition("/")[0] for each in names}
        assert tops <= {"LICENSE", "README.md", "package.json", "dist"}


def npm_bill(release: Path, name: str) -> dict[str, Any]:
    text = (release / f"{name}-{__version__}{NPM_BILL}").read_text(encoding="utf-8")
    bill: dict[str, Any] = as_json(text)
    assert "serialNumber" not in bill
    assert str(ROOT) not in text
    return bill


def test_a_package_of_npm_has_its_bill_of_materials(release: Path) -> None:
    program("npm")
    for name, manifest in npm_packages().items():
        bill = npm_bill(release, name)

        component = bill["metadata"]["component"]
        assert (component["name"], component["version"]) == (name, __version__)
        brought = {each["name"] for each in bill["components"]}
        assert set(manifest.get("dependencies", {})) <= brought
        if name != "turnwire-widget":
            assert bool(brought) is bool(manifest.get("dependencies"))


def test_the_widgets_bill_is_of_the_libraries_whose_notices_it_has(release: Path) -> None:
    program("npm")
    bill = npm_bill(release, "turnwire-widget")
    with tarfile.open(release / f"turnwire-widget-{__version__}.tgz") as packed:
        notices = packed.extractfile("package/dist/LICENSES.txt")
        assert notices is not None
        told = notices.read().decode()
        headings = re.findall(r"^=+\n(\S+) (\S+) \((.+)\)\n=+$", told, re.MULTILINE)

    parts = bill["components"]
    named = [
        (each["name"], each["version"], each["licenses"][0]["license"]["id"]) for each in parts
    ]
    assert named == headings
    assert {"ai", "preact", "turnwire-session"} <= {each["name"] for each in parts}
    assert {each["scope"] for each in parts} == {"required"}
    refs = {each["bom-ref"] for each in [*parts, bill["metadata"]["component"]]}
    assert {each["ref"] for each in bill["dependencies"]} == refs
    needed = {ref for each in bill["dependencies"] for ref in each["dependsOn"]}
    assert needed == refs - {f"turnwire-widget@{__version__}"}


def commands(mark: str) -> str:
    """The commands that the page on deployment shows behind this mark."""
    page = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"<!-- {mark} -->\n```sh\n(.*?)```", page, re.DOTALL)
    return str(found)


def shell(commands: str, folder: Path) -> int:
    return run(["env", "-C", folder, "bash", "-ec", commands])[0]


def test_a_release_is_signed_and_verified_as_the_page_says(release: Path, tmp_path: Path) -> None:
    program("openssl")
    shutil.copytree(release, tmp_path / "dist")

    assert shell(commands("sign"), tmp_path) == 0
    assert shell(commands("verify"), tmp_path) == 0
    notes = tmp_path / "dist/NOTES.md"
    notes.write_text(f"{notes.read_text()}and more")
    assert shell(commands("verify"), tmp_path) != 0
    sums = tmp_path / "dist/SHA256SUMS"
    digest = hashlib.sha256(notes.read_bytes()).hexdigest()
    sums.write_text(re.sub(r"\w+(?=  NOTES)", digest, sums.read_text()))
    assert shell("cd dist && sha256sum --check SHA256SUMS", tmp_path) == 0
    assert shell(commands("verify"), tmp_path) != 0
