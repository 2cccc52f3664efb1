"""The table of the `session-agent` wire's traps is read off the tests that hold them."""

import pytest

from turnwire_lab.docs.tables import TABLES
from turnwire_lab.docs.traps import Trap, UnmarkedError, rows, traps

MARKED = """
import pytest

def helper(): ...

@pytest.mark.trap(7, "It bites")
@pytest.mark.parametrize("x", [1])
def test_trap_7_it_does_not_bite(x): ...
"""


def test_all_25_are_there() -> None:
    assert {int(number) for number, _, _ in rows()} == set(range(1, 26))
    assert all(what and says for _, what, says in rows())


def test_a_marked_test_is_told() -> None:
    assert list(traps(MARKED)) == [Trap(7, "It bites", "it does not bite")]


@pytest.mark.parametrize(
    "mark", ["", '@pytest.mark.trap(8, "It bites")', '@pytest.mark.skip("It bites")']
)
def test_a_test_whose_mark_does_not_agree_with_its_name_is_an_error(mark: str) -> None:
    with pytest.raises(UnmarkedError, match="test_trap_7_it_does_not_bite"):
        list(traps(MARKED.replace('@pytest.mark.trap(7, "It bites")', mark)))


def test_the_table_has_a_row_for_each() -> None:
    lines = TABLES["traps"]().splitlines()

    assert len(lines) == len(rows()) + 2
    assert lines[2].startswith("| 1 | ")
