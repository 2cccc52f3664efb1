"""What the Makefile promises: its targets, and that one step that fails hides no other."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE))
NAMED = {name for line in TARGETS for name in line.split()}
(STEPS,) = re.findall(r"^STEPS \?= (.+)$", MAKEFILE, re.MULTILINE)
(REST,) = re.findall(r"^REST := (.+)$", MAKEFILE, re.MULTILINE)
PARTS = {"unit", "check", "patient", "e2e"}
"""Targets that run what steps run, too."""
PICTURES = {"pictures", "dashboards-picture"}
RUNS = r"\$\(PYTEST\)|npm run --silent test"


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("make")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("make is not installed")
        pytest.skip("make is not installed")
    bare = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        [program, "--no-print-directory", *arguments],
        cwd=ROOT,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_step_that_fails_hides_no_other() -> None:
    ran = make("test", "STEPS=help no-such-step help")

    assert ran.returncode != 0
    assert ran.stdout.count("\nhelp ") == 2
    told = ran.stdout[ran.stdout.index("== All steps:") :].splitlines()[1:]
    assert [line.split()[:2] for line in told] == [
        ["passed", "help"],
        ["FAILED", "no-such-step"],
        ["passed", "help"],
    ]


def test_tests_that_failed_are_named_once_more_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    it = "def test_it():\n    go()\n\ndef go():\n    assert 1 + 1 == 3\n"
    (tmp_path / "tests/test_it.py").write_text(it)
    (tmp_path / "test_other.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    named = tmp_path / "failed"
    tests = {**os.environ, "FAILED_TESTS": str(named)}
    tests.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-m", "pytest", "--continue-on-collection-errors"]

    for workers in ("0", "1"):
        subprocess.run(
            [*command, "-n", workers], cwd=tmp_path, env=tests, capture_output=True, check=False
        )

    way = "tests/test_it.py:2, tests/test_it.py:5"
    assert sorted(named.read_text().splitlines()) == [
        "test_other.py: E   ModuleNotFoundError: No module named 'nothing_of_this_name'",
        "test_other.py: E   ModuleNotFoundError: No module named 'nothing_of_this_name'",
        f"tests/test_it.py::test_it: assert (1 + 1) == 3 ({way})",
        f"tests/test_it.py::test_it: assert (1 + 1) == 3 ({way})",
    ]


def test_all_is_well_where_every_step_passes() -> None:
    assert make("test", "STEPS=help help").returncode == 0


def test_every_step_is_a_target() -> None:
    assert {*STEPS.split(), *REST.split()} <= NAMED


def test_every_target_that_runs_tests_is_a_step_or_named_as_left_to_hands() -> None:
    recipes = dict(re.findall(r"^([a-z0-9-]+):.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE))
    running = {name for name, recipe in recipes.items() if re.search(RUNS, recipe)}
    steps = {*STEPS.split(), *REST.split()}
    made = [recipes[step] for step in steps if "$(MAKE)" in recipes[step]]
    steps |= {name.removeprefix("left-to-") for recipe in made for name in recipe.split()}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    by_hand = re.findall(r"Start the others by hand: (.+?)\.", readme, re.DOTALL)

    left = running - steps - PARTS - PICTURES

    assert left == {"agents", "image-check", "load"}
    assert left <= set(re.findall(r"`([a-z-]+)`", by_hand[0]))


def test_programs_that_debian_has_are_listed_in_order() -> None:
    lines = (ROOT / "tests/apt-packages.txt").read_text(encoding="utf-8").splitlines()[1:]

    assert lines == sorted(set(lines))


def test_a_demo_with_a_model_has_no_other_agent() -> None:
    ran = make("demo", "MODEL=local", "AGENT=pydantic-ai")

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("MODEL and AGENT exclude each other: ")


def test_what_is_run_of_the_environment_is_run_by_its_python() -> None:
    """The first line of a script has the path of its Python, which may be long or hold a space."""
    assert re.findall(r"\.venv/bin/(?!python\b)\S+", MAKEFILE) == []


@pytest.mark.parametrize(
    "page", ["README.md", "docs/speed.md", "docs/doctor.md", "docs/proxies.md"]
)
def test_a_target_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    assert set(re.findall(r"`make ([a-z-]+)(?:`| [A-Z])", text)) <= NAMED


def test_what_a_step_leaves_out_another_target_runs() -> None:
    files = set[str]()
    for folder, folders, names in os.walk(ROOT / "tests"):
        folders[:] = [name for name in folders if name != "node_modules"]
        here = Path(folder).relative_to(ROOT)
        files |= {f"{here}/{name}" for name in names if re.fullmatch(r"test_.+\.py", name)}
    told = make("-n", "-k", *STEPS.split(), *REST.split(), "agents", "load").stdout
    ran = set[str]()
    for line in re.findall(r"-m pytest (.+(?:\\\n.+)*)", told):
        words = [word.removesuffix("/") for word in line.split()]
        left = {word.removeprefix("--ignore=") for word in words if word.startswith("--ignore=")}
        named = {word for word in words if word.startswith("tests/")} or {"tests" if left else ""}
        ran |= {each for each in files if _below(each, named) and not _below(each, left)}

    assert files - ran == set()


def _below(file: str, named: set[str]) -> bool:
    return any(file == name or file.startswith(f"{name}/") for name in named)
