"""The example of docs/write-a-dialect.md passes the suite; its page shows how."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from testing import minimal_suite
from testing.faulty_dialects import faulty
from turnwire import testing
from turnwire.testing.suite import ROOMS, DialectSuite, failures, suite_tests

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs/test-a-dialect.md").read_text()


class TestMinimal(minimal_suite.MinimalSuite):
    pass


def test_each_test_says_what_it_is_about() -> None:
    tests = suite_tests(DialectSuite)

    assert len(tests) > 15
    assert [name for name, test in tests.items() if not (test.__doc__ or "").endswith(".")] == []


def test_each_test_is_of_one_part() -> None:
    names = [name for room in ROOMS for name in vars(room) if name in ALL]

    assert sorted(names) == sorted(ALL)


ALL: Final = suite_tests(DialectSuite)


def test_a_class_may_leave_a_test_out() -> None:
    class Without(minimal_suite.MinimalSuite):
        test_a_text_is_shown_at_once = None  # type: ignore[assignment]

    assert ALL.keys() - suite_tests(Without).keys() == {"test_a_text_is_shown_at_once"}
    assert list(failures(Without(), {"test_a_text_is_shown_at_once"})) == []


@pytest.mark.parametrize("names_calls", [True, False])
def test_calls_may_have_ids_that_the_dialect_makes(*, names_calls: bool) -> None:
    class Numbering(minimal_suite.example.Turn):
        def receive_frame(self, frame: bytes, now: float) -> Any:
            frame = frame.replace(b'"id": "c', b'"id": "call-')
            return super().receive_frame(frame, now)

    class Numbered(minimal_suite.MinimalSuite):
        dialect = faulty(Numbering)

    Numbered.names_calls = names_calls

    found = [name for name, _ in failures(Numbered(), {"test_the_script_is_shown"})]
    assert found == (["test_the_script_is_shown"] if names_calls else [])


def test_it_needs_no_pytest() -> None:
    """pytest is the author's: the wheel of the gateway does not bring it."""
    sources = (ROOT / "src/turnwire/testing").rglob("*.py")

    assert [path.name for path in sources if "import pytest" in path.read_text()] == []


def test_a_test_runs_for_each_script_that_the_wire_has_words_for() -> None:
    made: dict[str, Any] = {}

    class Asking:
        fixturenames = ("script",)

        def parametrize(self, name: str, values: list[Any], ids: list[str]) -> None:
            made[name] = dict(zip(ids, values, strict=True))

    minimal_suite.MinimalSuite().pytest_generate_tests(Asking())

    assert list(made["script"]) == ["text", "breaks", "nothing", *NAMES]
    assert made["script"]["tool"] is testing.SCRIPTS["tool"]


NAMES: Final = ("tool", "two_tools", "two_texts", "error")


@pytest.mark.sockets
def test_the_command_of_its_page_runs() -> None:
    command = "python -m pytest examples/dialects/minimal"
    assert f"PYTHONPATH=examples/dialects/minimal {command}\n" in PAGE
    environ = {**os.environ, "PYTHONPATH": "examples/dialects/minimal"}
    words = [sys.executable, *command.split()[1:], "-q", "-p", "no:cov", "-p", "no:cacheprovider"]

    done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_its_page_shows_the_suite() -> None:
    name = "../examples/dialects/minimal/minimal_dialect_test.py"

    assert f"```{{literalinclude}} {name}\n" in PAGE
    assert (ROOT / "docs" / name).resolve().is_file()
