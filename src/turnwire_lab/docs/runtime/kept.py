"""What of an agent of pydantic-ai lasts, and how. From marks of the tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from turnwire_lab.docs.marks import ROOT, functions, marks

TESTS: Final = ROOT / "tests" / "runtime" / "drivers" / "pydantic_ai"
HEAD: Final = ("Of the agent", "What becomes of it")


class UnclearMarkError(Exception):
    """A mark has not two texts: what, and what becomes of it."""


def rows(folder: Path = TESTS) -> Iterator[tuple[str, str]]:
    """A row for each mark.

    Raises:
        UnclearMarkError: one has not two texts.

    """
    for path in sorted(folder.glob("test_*.py")):
        for test in functions(path.read_text(encoding="utf-8")):
            for mark in marks(test, "kept"):
                match mark:
                    case (str() as what, str() as becomes):
                        yield what, becomes
                    case _:
                        raise UnclearMarkError(f"{path.name}: {test.name}")
