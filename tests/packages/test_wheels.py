"""The four wheels of this repository: what is in each, and what each says of itself."""

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any, Final

import pytest

from turnwire import __version__

ROOT: Final = Path(__file__).parents[2]
PROJECTS: Final = {
    "turnwire": ".",
    "turnwire_lab": "packages/turnwire-lab",
    "turnwire_agent": "packages/turnwire-agent",
    "turnwire_client": "packages/turnwire-client",
}
SCRIPTS: Final = {
    "turnwire": "[console_scripts]\nturnwire = turnwire.cli:main\n\n"
    "[pytest11]\nturnwire = turnwire.pytest_plugin\n",
    "turnwire_lab": "[console_scripts]\nturnwire-lab = turnwire_lab.entry:main\n",
    "turnwire_agent": "[console_scripts]\nturnwire-agent = turnwire_agent.cli:main\n",
}
# What `make page widget` makes in the lab, and whether a wheel has it.
MADE: Final = {
    "web/dist/index.html": True,
    "web/dist/LICENSES.txt": True,
    "web/dist/.stamp": False,
    "web/node_modules/vite/index.js": False,
    "widget/dist/widget.js": True,
    "widget/dist/LICENSES.txt": True,
    "widget/dist/index.js": False,
    "widget/dist/.stamp": False,
    "widget/node_modules/vite/index.js": False,
}


def project(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / PROJECTS[name] / "pyproject.toml").read_text(encoding="utf-8"))


def build(folder: Path, out: Path, *options: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(out), *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def members(wheel: Path) -> set[str]:
    """The files of a wheel but those that pip keeps about it."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def about(wheel: Path, name: str) -> str | None:
    with zipfile.ZipFile(wheel) as archive:
        path = f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info/{name}"
        return archive.read(path).decode() if path in archive.namelist() else None


def metadata(wheel: Path) -> Message:
    return Parser().parsestr(about(wheel, "METADATA") or "")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which the page and the widget were made."""
    top = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("node_modules", "dist", "__pycache__")
    for folder in ("src", "packages"):
        shutil.copytree(ROOT / folder, top / folder, symlinks=True, ignore=ignored)
    for file in (".gitignore", "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / file, top)
    for name in MADE:
        made = top / "src/turnwire_lab" / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.touch()
    return top


@pytest.fixture(scope="module")
def built(tree: Path) -> Path:
    out = tree / "build"
    for folder in PROJECTS.values():
        build(tree / folder, out)
    return out


@pytest.fixture(params=PROJECTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def wheel(built: Path, name: str) -> Path:
    return built / f"{name}-{__version__}-py3-none-any.whl"


def test_there_is_a_wheel_and_an_sdist_of_each_and_of_one_version(built: Path) -> None:
    assert {path.name for path in built.iterdir()} == {
        f"{name}-{__version__}{end}"
        for name in PROJECTS
        for end in ("-py3-none-any.whl", ".tar.gz")
    }


def test_a_wheel_has_one_package_whole(tree: Path, wheel: Path, name: str) -> None:
    sources = tree / PROJECTS[name] / "src"
    python = {str(path.relative_to(sources)) for path in (sources / name).rglob("*.py")}
    found = members(wheel)

    assert {path.partition("/")[0] for path in found} == {name}
    assert {f"{name}/__init__.py", f"{name}/py.typed"} <= found
    assert {path for path in found if path.endswith(".py")} == python


def test_a_wheel_says_what_it_is(wheel: Path, name: str) -> None:
    said = metadata(wheel)

    assert (said["Name"], said["Version"]) == (name.replace("_", "-"), __version__)
    assert said["Requires-Python"] == project("turnwire")["project"]["requires-python"]
    assert about(wheel, "entry_points.txt") == SCRIPTS.get(name)
    assert about(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_an_sdist_holds_files_alone_and_none_of_the_other_packages(built: Path, name: str) -> None:
    with tarfile.open(built / f"{name}-{__version__}.tar.gz") as sdist:
        inside = [(each.name.split("/")[1:], each) for each in sdist if not each.isdir()]

    assert all(each.isfile() for _, each in inside)
    assert {path[1] for path, _ in inside if path[0] == "src"} == {name}


def test_the_lab_needs_two_others_of_its_own_version_and_they_need_none(
    built: Path,
) -> None:
    gateway, lab, agent, client = (
        set(metadata(built / f"{name}-{__version__}-py3-none-any.whl").get_all("Requires-Dist", []))
        for name in PROJECTS
    )

    libraries = project("turnwire_lab")["dependency-groups"]["libraries"]
    ours = {f"turnwire=={__version__}", f"turnwire-agent=={__version__}"}
    assert lab == {*ours, *libraries}
    assert not [each for each in gateway | agent | client if each.startswith("turnwire")]
    assert client == {"httpx<1,>=0.28", "msgspec>=0.22"}
    without_extras = {each for each in agent if "extra ==" not in each}
    assert without_extras == {
        "h11<1,>=0.16",
        "httpx<1,>=0.28",
        "msgspec>=0.22",
        "prometheus-client>=0.26",
        "starlette<2,>=1.0",
        "uvicorn<1,>=0.40",
        "websockets<18,>=17.4",
    }


def test_the_lab_has_what_was_made_for_its_demo_and_nothing_beside_it(built: Path) -> None:
    found = members(built / f"turnwire_lab-{__version__}-py3-none-any.whl")

    assert {name: f"turnwire_lab/{name}" in found for name in MADE} == MADE
    assert not [name for name in found if "node_modules" in name]


def test_the_labs_sdist_makes_the_same_wheel(built: Path, tmp_path: Path) -> None:
    whole = f"turnwire_lab-{__version__}"
    with tarfile.open(built / f"{whole}.tar.gz") as sdist:
        sdist.extractall(tmp_path, filter="data")
    build(tmp_path / whole, tmp_path, "--target", "wheel")

    ours, theirs = (folder / f"{whole}-py3-none-any.whl" for folder in (built, tmp_path))
    assert members(ours) == members(theirs)
    assert about(ours, "METADATA") == about(theirs, "METADATA")


def test_without_gitignore_there_are_no_node_modules_either(tree: Path, tmp_path: Path) -> None:
    """An image's build has no such file."""
    shutil.copytree(tree / "packages", tmp_path / "packages", symlinks=True)
    shutil.copytree(tree / "src", tmp_path / "src")
    build(tmp_path / PROJECTS["turnwire_lab"], tmp_path, "--target", "wheel")

    found = members(tmp_path / f"turnwire_lab-{__version__}-py3-none-any.whl")
    assert "turnwire_lab/web/dist/index.html" in found
    assert not [name for name in found if "node_modules" in name]


def test_all_are_built_by_the_same_tool() -> None:
    assert all(
        project(name)["build-system"] == project("turnwire")["build-system"] for name in PROJECTS
    )
