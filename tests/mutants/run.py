"""Plant each fault and see which tests notice: `make mutants`.

A `Mutant` is planted in a copy of the source, a `Fault` in the running tests (`fault`), so the
working tree is never touched. The property tests run by themselves first;
the table tests are asked about every fault too. A fault that concerns a few tests
alone says which. Exits with 1 if a fault is noticed by nobody, or too few by the
properties.

    .venv/bin/python tests/mutants/run.py [WORD...]    # only faults with such a word in them
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants.every import FAULTS, MUTANTS
from mutants.fault import Fault
from mutants.mutant import Mutant

ROOT: Final = Path(__file__).parents[2]
PROPERTIES: Final = sorted((ROOT / "tests/core").glob("test_promises*.py"))
TABLES: Final = [ROOT / "tests/core", ROOT / "tests/dialects"]
PROPERTIES_LEAST: Final = 8
"""So many faults must be noticed by the property tests alone."""
PARALLEL: Final = 2
ALL: Final[tuple[Mutant | Fault, ...]] = (*MUTANTS, *FAULTS)


def plant(mutant: Mutant, src: Path) -> None:
    """Edit the copy.

    Raises:
        SystemExit: the text to change is not there exactly once.

    """
    file = src / "turnwire" / mutant.file
    text = file.read_text()
    if (found := text.count(mutant.old)) != 1:
        raise SystemExit(f"{mutant.name}: found {found} times in {mutant.file}: {mutant.old!r}")
    file.write_text(text.replace(mutant.old, mutant.new))


def noticed(src: Path, *tests: str, fault: Fault | None = None) -> bool:
    """Whether a test fails with this source, and this fault.

    Raises:
        SystemExit: the tests could not be run.

    """
    options = ["-x", "-q", "-m", "not long", "-p", "no:cacheprovider", "-p", "no:cov"]
    if str(ROOT / "tests/core") in tests or str(PROPERTIES[0]) in tests:  # who know the profile
        options += ["--hypothesis-profile", "verdict"]
    if fault is not None:
        options += ["-p", "mutants.planting", "--planted", fault.name]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env=os.environ
        | {"PYTHONPATH": f"{src}{os.pathsep}{ROOT / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode not in {0, 1}:
        raise SystemExit(ran.stdout + ran.stderr)
    return ran.returncode == 1


def judge(mutant: Mutant | Fault | None) -> tuple[bool, bool]:
    """Whether the properties notice it, and whether the tables do."""
    with tempfile.TemporaryDirectory(prefix="turnwire-mutant-") as folder:
        src = Path(folder) / "src"
        shutil.copytree(ROOT / "src", src, ignore=shutil.ignore_patterns("__pycache__"))
        fault = mutant if isinstance(mutant, Fault) else None
        if isinstance(mutant, Mutant):
            plant(mutant, src)
        if mutant is not None and mutant.tests:
            asked = [str(ROOT / "tests" / path) for path in mutant.tests]
            return False, noticed(src, *asked, fault=fault)
        apart = [f"--ignore={path}" for path in PROPERTIES]
        return (
            noticed(src, *map(str, PROPERTIES), fault=fault),
            noticed(src, *map(str, TABLES), *apart, fault=fault),
        )


def _fails(path: str) -> bool:
    """Whether tests fail without any fault."""
    return noticed(ROOT / "src", str(ROOT / "tests" / path))


def main(*words: str) -> int:
    began = time.monotonic()
    chosen = [m for m in ALL if not words or any(w in f"{m.name} {m.where}" for w in words)]
    asked = sorted({path for mutant in chosen for path in mutant.tests})
    with ThreadPoolExecutor(PARALLEL) as pool:
        # Some watch the clock, and may fail beside others: those have a second try alone.
        beside = zip(asked, pool.map(_fails, asked), strict=True)
        if failing := [path for path, failed in beside if failed and _fails(path)]:
            say(f"Without any fault there fail {', '.join(failing)}; nothing can be said.")
            return 1
        if not all(mutant.tests for mutant in chosen) and any(judge(None)):
            say("The tests of the core fail without any fault; nothing can be said.")
            return 1
        survivors = by_properties = 0
        say(f"{'fault':52} {'properties':10} tables")
        for mutant, (properties, tables) in zip(chosen, pool.map(judge, chosen), strict=True):
            survivors += not (properties or tables)
            by_properties += properties
            say(f"{mutant.name:52} {_word(noticed=properties):10} {_word(noticed=tables)}")
    say(
        f"{len(chosen)} faults, {survivors} noticed by nobody, {by_properties} by the"
        f" properties (at least {PROPERTIES_LEAST}); {time.monotonic() - began:.0f} s"
    )
    too_few = not words and by_properties < PROPERTIES_LEAST
    return int(survivors > 0 or too_few)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _word(*, noticed: bool) -> str:
    return "noticed" if noticed else "-"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
