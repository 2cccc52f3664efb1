"""When a process is killed, what a client sees, what happens next. From marks of the tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from turnwire_lab.docs.marks import ROOT, functions, marks

KILL: Final = ROOT / "tests" / "runtime" / "kill"
HEAD: Final = ("The process is killed", "A client sees", "What happens next")


class UnclearMarkError(Exception):
    """A mark has not three texts: when, what is seen, what is next."""


def rows(folder: Path = KILL) -> Iterator[tuple[str, str, str]]:
    """A row for each mark.

    Raises:
        UnclearMarkError: one has not three texts.

    """
    for path in sorted(folder.glob("test_*.py")):
        for test in functions(path.read_text(encoding="utf-8")):
            for mark in marks(test, "killed"):
                match mark:
                    case (str() as when, str() as sees, str() as then):
                        yield when, sees, then
                    case _:
                        raise UnclearMarkError(f"{path.name}: {test.name}")
