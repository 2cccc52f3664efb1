"""The traps of the `session-agent` wire, as the tests that hold them are marked."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from turnwire_lab.docs.marks import ROOT, functions, marks

TESTS: Final = ROOT / "tests" / "dialects" / "session_agent" / "test_traps.py"

_NAME: Final = re.compile(r"test_trap_(\d+)_(\w+)")


class Trap(Struct, frozen=True):
    """One test of one trap."""

    number: int
    what: str
    says: str
    """The test's name, which is a sentence."""


class UnmarkedError(Exception):
    """A test is named for a trap and not marked with it, or with another."""


def traps(source: str) -> Iterator[Trap]:
    """The tests that are named for a trap, in their order.

    Raises:
        UnmarkedError: a name and its mark do not agree.

    """
    for test in functions(source):
        if (named := _NAME.fullmatch(test.name)) is None:
            continue
        match marks(test, "trap"):
            case [(int() as number, str() as what)] if number == int(named[1]):
                yield Trap(number, what, named[2].replace("_", " "))
            case _:
                raise UnmarkedError(test.name)


def rows() -> list[tuple[str, str, str]]:
    """A row for each trap: its number, what it is, the names of its tests."""
    rows: dict[tuple[int, str], list[str]] = {}
    for trap in traps(TESTS.read_text(encoding="utf-8")):
        rows.setdefault((trap.number, trap.what), []).append(trap.says)
    return [(str(number), what, "; ".join(says)) for (number, what), says in sorted(rows.items())]
