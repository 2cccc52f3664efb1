"""The suite: all tests, for a class of an author's own."""

import inspect
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final
from unittest import SkipTest

from turnwire.testing.endings import Endings
from turnwire.testing.kept_state import KeptState
from turnwire.testing.optional.native_approvals import NativeApprovals
from turnwire.testing.optional.questions import Questions
from turnwire.testing.optional.side_by_side import SideBySide
from turnwire.testing.orders import Orders
from turnwire.testing.reading_again import ReadingAgain
from turnwire.testing.redaction import Redaction
from turnwire.testing.whole_turns import WholeTurns
from turnwire.testing.wire_changes import WireChanges

ROOMS: Final = (
    *(WholeTurns, Orders, Endings, ReadingAgain, Questions, NativeApprovals, SideBySide),
    *(WireChanges, Redaction, KeptState),
)
"""The parts of the suite, in the order of the documentation."""

_SCRIPT: Final = "script"


class DialectSuite(
    WholeTurns,
    Orders,
    Endings,
    ReadingAgain,
    Questions,
    NativeApprovals,
    SideBySide,
    WireChanges,
    Redaction,
    KeptState,
):
    """A base of a class of tests. An author sets `dialect`, and writes `frames`.

    A test that is about a script runs once for each one that the wire has words for.
    """

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Give pytest the scripts. pytest finds this method by its name."""
        if _SCRIPT in metafunc.fixturenames:
            scripts = self.scripts()
            metafunc.parametrize(_SCRIPT, list(scripts.values()), ids=list(scripts))


def suite_tests(suite: type[DialectSuite]) -> dict[str, Callable[..., None]]:
    """Return the tests of a suite, by name, in the order of the documentation.

    A test that a class sets to None is none of its tests.
    """
    classes = (*ROOMS, *reversed(suite.__mro__))
    names = (name for each in classes for name in vars(each) if name.startswith("test_"))
    return {name: test for name in names if (test := getattr(suite, name)) is not None}


def failures(
    suite: DialectSuite, names: Collection[str] | None = None
) -> Iterator[tuple[str, Exception]]:
    """Run these tests, or all, without pytest. Yield the name of each that fails, and why.

    A test that has no frames to play is none of them.
    """
    for name, test in suite_tests(type(suite)).items():
        if names is not None and name not in names:
            continue
        has_script = _SCRIPT in inspect.signature(test).parameters
        given = list(suite.scripts().values()) if has_script else [None]
        for script in given:
            try:
                test(suite, *([] if script is None else [script]))
            except SkipTest:
                break
            except Exception as exc:  # noqa: BLE001 (a dialect may raise anything)
                yield name, exc
                break
