"""The whole of it on a little code, of which it is known what its tests notice."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from mutation.changes import changes, sample
from mutation.options import environment

TINY: Final = Path(__file__).with_name("tiny")
ALL: Final = list(changes([TINY / "doors.py"], TINY))

pytestmark = pytest.mark.sockets

SURVIVORS: Final = {
    "grade: points > 10 -> points >= 10",
    "grade: 10 -> 11",
    "grade: 10 -> 9",
    "held: return twice -> return None",
    "never_run: number + 1 -> number - 1",
    "never_run: 1 -> 2",
    "never_run: 1 -> 0",
    "never_run: return number + 1 -> return None",
}
OF_ANOTHER_CLOSURE: Final = "held: return work(number) + work(number) -> return None"


def command(folder: Path, checks: Path, *options: str) -> list[str]:
    places = ("--source", TINY, "--tests", checks, "--build", folder / "build")
    whole = (sys.executable, Path(__file__).with_name("run.py"), "doors.py", *places)
    return [*map(str, whole), "--patience", "0.3", *options]


def run(folder: Path, *options: str, checks: Path = TINY / "checks.py") -> tuple[int, str]:
    ran = subprocess.run(
        command(folder, checks, *options),
        env=environment(TINY),
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("mutation")
    kept = folder / "equivalent.toml"
    kept.write_text(
        """
        [[equivalent]]
        reason = "nobody runs it"
        changes = ["doors.py:never_run: 1 -> 0"]
        """
    )

    code, said = run(folder, "--equivalent", str(kept))

    assert code == 0, said
    return said


def outcomes(said: str) -> dict[str, str]:
    lines = [line for line in said.splitlines() if " s  doors.py:" in line]
    return {line.rpartition("  doors.py:")[2]: line[:14].strip() for line in lines}


def test_every_change_but_those_of_the_list_is_asked_about(said: str) -> None:
    names = {change.name.removeprefix("doors.py:") for change in ALL}

    assert set(outcomes(said)) == names - {"never_run: 1 -> 0", OF_ANOTHER_CLOSURE}
    assert "1 changes could not be made" in said


def test_what_no_test_notices_survives_and_nothing_else(said: str) -> None:
    noticed = {"fails", "does not end"}
    survivors = {name for name, how in outcomes(said).items() if how not in noticed}

    assert survivors == SURVIVORS - {"never_run: 1 -> 0"}


def test_the_score_leaves_out_what_nobody_can_notice(said: str) -> None:
    tried, survivors = len(ALL) - 2, len(SURVIVORS) - 1

    assert f"{tried - survivors} of {tried} noticed" in said


def test_the_list_of_survivors_has_file_line_and_change(said: str) -> None:
    listed = said.partition("Noticed by no test:")[2].splitlines()

    assert "  doors.py:21 comparison  doors.py:grade: points > 10 -> points >= 10" in listed
    assert "  doors.py:80 constant  doors.py:never_run: 1 -> 2 (no test runs it)" in listed


def test_an_endless_loop_is_noticed(said: str) -> None:
    assert outcomes(said)["counted_down: count -= 1 -> count += 1"] == "does not end"


@pytest.mark.parametrize(
    "change",
    [
        "doubled: number * 2 -> number + 2",
        "halved: number // 2 -> number * 2",
        "held: work(number) + work(number) -> work(number) - work(number)",
        "Door.label: return f'door {self._name}' -> return None",
        "Door.label: 'door ' -> ''",
    ],
)
def test_what_a_cache_a_default_and_a_property_hold_is_changed(said: str, change: str) -> None:
    assert outcomes(said)[change] == "fails"


def test_a_test_that_fails_without_any_change_says_nothing(tmp_path: Path) -> None:
    checks = tmp_path / "checks.py"
    checks.write_text("def test_it() -> None:\n    assert False\n")

    code, said = run(tmp_path, checks=checks)

    assert code == 1
    assert "nothing can be said" in said


def test_what_was_asked_before_it_was_stopped_is_reported(tmp_path: Path) -> None:
    # An endless loop holds a worker for all of this patience: not all is asked before the signal.
    options = ("--all-of-them", "--workers", "4", "--patience", "60")
    with subprocess.Popen(
        command(tmp_path, TINY / "checks.py", *options),
        env=environment(TINY),
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if outcomes(line):
                running.send_signal(signal.SIGINT)
                break
        said = running.stdout.read()

    assert running.returncode == 0
    assert len(outcomes(said)) < len(ALL) - 1
    assert " noticed: " in said


def test_the_seed_decides_what_is_drawn() -> None:
    one = [change.name for change in sample(ALL, 10, 1)]

    assert one == [change.name for change in sample(ALL[::-1], 10, 1)]
    assert one != [change.name for change in sample(ALL, 10, 2)]
    assert one[:5] == [change.name for change in sample(ALL, 5, 1)]
