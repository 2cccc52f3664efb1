"""What breaks, or which attack is tried; what happens then; which test shows it. From marks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from turnwire_lab.docs.marks import ROOT, functions, marks, sentence

TESTS: Final = ROOT / "tests"
FIRST: Final = {"fault": "chaos", "attack": "attacks"}
"""By mark, the folder that its table begins with."""


class UnclearMarkError(Exception):
    """A mark has not two texts: what is done, and what happens."""


def rows(folder: Path = TESTS, mark: str = "fault") -> Iterator[tuple[str, str, str]]:
    """A row for each mark.

    Raises:
        UnclearMarkError: one has not two texts.

    """
    first = FIRST[mark]
    for path in sorted(folder.rglob("test_*.py"), key=lambda path: (first not in path.parts, path)):
        source = path.read_text(encoding="utf-8")
        if f"mark.{mark}" in source:
            yield from _of_module(source, path.relative_to(folder), mark)


def _of_module(source: str, path: Path, mark: str) -> Iterator[tuple[str, str, str]]:
    for test in functions(source):
        for texts in marks(test, mark):
            match texts:
                case (str() as breaks, str() as happens):
                    yield breaks, happens, f"`{path.as_posix()}`: {sentence(test)}"
                case _:
                    raise UnclearMarkError(f"{path}: {test.name}")
