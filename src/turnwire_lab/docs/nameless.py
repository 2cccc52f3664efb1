"""Frames that count as ours without naming our prompt, turn or channel. From marks of the tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from turnwire_lab.docs.marks import ROOT, functions, marks

DIALECTS: Final = ROOT / "tests" / "dialects"
V2: Final = sorted((DIALECTS / "v2").rglob("test_*.py"))
SESSION_AGENT: Final = sorted((DIALECTS / "session_agent").rglob("test_*.py"))


class UnclearMarkError(Exception):
    """A mark has not three texts: the frame, when it is ours, and why."""


def rows(paths: list[Path]) -> Iterator[tuple[str, str, str, str]]:
    """A row for each mark.

    Raises:
        UnclearMarkError: one has not three texts.

    """
    for path in paths:
        for test in functions(path.read_text(encoding="utf-8")):
            for mark in marks(test, "nameless"):
                match mark:
                    case (str() as what, str() as when, str() as why):
                        yield what, when, why, f"`{path.stem}`: `{test.name}`"
                    case _:
                        raise UnclearMarkError(f"{path.name}: {test.name}")
