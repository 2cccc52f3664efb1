"""Plant each fault and see which tests notice: `make mutants`.

A fault is planted in the process that runs the tests (`fault`), so the working tree is never
touched. The property tests run by themselves first; the table tests are asked about every fault
too. A fault that concerns a few tests alone says which. Exits with 1 if a fault is noticed by
nobody, or too few by the properties.

    .venv/bin/python tests/mutants/run.py [WORD...]    # only faults with such a word in them

PARALLEL=1 in the environment: one run of tests at a time, instead of two.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from mutants.every import FAULTS
from mutants.fault import Fault

ROOT: Final = Path(__file__).parents[2]
PROPERTIES: Final = sorted((ROOT / "tests/core").glob("test_promises*.py"))
TABLES: Final = [ROOT / "tests/core", ROOT / "tests/dialects"]
PROFILED: Final = [ROOT / "tests/core", ROOT / "tests/runtime/loop"]
"""Who know the profile of hypothesis."""
PROPERTIES_LEAST: Final = 8
"""So many faults must be noticed by the property tests alone."""
PARALLEL: Final = int(os.environ.get("PARALLEL", "2"))


def environment() -> dict[str, str]:
    """That of a process which imports this tree, whatever is installed."""
    paths = [str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def noticed(*tests: str, fault: Fault | None = None) -> bool:
    """Whether a test fails with this fault.

    Raises:
        SystemExit: the tests could not be run.

    """
    options = ["-x", "-q", "-m", "not long", "-p", "no:cacheprovider", "-p", "no:cov"]
    if any(Path(test).is_relative_to(folder) for test in tests for folder in PROFILED):
        options += ["--hypothesis-profile", "verdict"]
    if fault is not None:
        options += ["-p", "mutants.planting", "--planted", fault.name]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode not in {0, 1}:
        raise SystemExit(ran.stdout + ran.stderr)
    return ran.returncode == 1


def judge(fault: Fault | None) -> tuple[bool, bool]:
    """Whether the properties notice it, and whether the tables do."""
    if fault is not None and fault.tests:
        asked = [str(ROOT / "tests" / path) for path in fault.tests]
        return False, noticed(*asked, fault=fault)
    apart = [f"--ignore={path}" for path in PROPERTIES]
    return (
        noticed(*map(str, PROPERTIES), fault=fault),
        noticed(*map(str, TABLES), *apart, fault=fault),
    )


def _fails(path: str) -> bool:
    """Whether tests fail without any fault."""
    return noticed(str(ROOT / "tests" / path))


def main(*words: str) -> int:
    began = time.monotonic()
    chosen = [f for f in FAULTS if not words or any(w in f"{f.name} {f.target}" for w in words)]
    asked = sorted({path for fault in chosen for path in fault.tests})
    with ThreadPoolExecutor(PARALLEL) as pool:
        # Some watch the clock, and may fail beside others: those have a second try alone.
        beside = zip(asked, pool.map(_fails, asked), strict=True)
        if failing := [path for path, failed in beside if failed and _fails(path)]:
            say(f"Without any fault there fail {', '.join(failing)}; nothing can be said.")
            return 1
        if not all(fault.tests for fault in chosen) and any(judge(None)):
            say("The tests of the core fail without any fault; nothing can be said.")
            return 1
        survivors = by_properties = 0
        say(f"{'fault':52} {'properties':10} tables")
        for fault, (properties, tables) in zip(chosen, pool.map(judge, chosen), strict=True):
            survivors += not (properties or tables)
            by_properties += properties
            say(f"{fault.name:52} {_word(noticed=properties):10} {_word(noticed=tables)}")
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
