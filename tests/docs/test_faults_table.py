"""The table of faults is read off the tests that cause them."""

import re
from pathlib import Path

import pytest

from turnwire_lab.docs.faults import TESTS, UnclearMarkError, rows
from turnwire_lab.docs.marks import functions, marks

MARKED = """
import pytest

@pytest.mark.fault("a wheel", "it limps")
@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.fault("an axle", "it stops"))])
async def test_a_cart_that_breaks(x): ...

def test_a_cart(): ...

def helper(): ...
"""


def test_every_mark_is_a_row_and_the_chaos_suite_comes_first(tmp_path: Path) -> None:
    for folder in ("chaos", "a"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test_cart.py").write_text(MARKED)

    found = [
        (breaks, happens, f"`{folder}/test_cart.py`: a cart that breaks")
        for folder in ("chaos", "a")
        for breaks, happens in (("a wheel", "it limps"), ("an axle", "it stops"))
    ]
    assert list(rows(tmp_path)) == found


@pytest.mark.parametrize("said", ['"a wheel"', "1, 2", '"a wheel", "it limps", "it stops"', ""])
def test_a_mark_that_says_something_else_is_an_error(tmp_path: Path, said: str) -> None:
    (tmp_path / "test_cart.py").write_text(MARKED.replace('"a wheel", "it limps"', said))

    with pytest.raises(UnclearMarkError, match=re.escape("test_cart.py: test_a_cart_that_breaks")):
        list(rows(tmp_path))


def test_every_test_of_the_chaos_suite_is_marked() -> None:
    for path in (TESTS / "chaos").glob("test_*.py"):
        for test in functions(path.read_text(encoding="utf-8")):
            assert marks(test, "fault"), f"{path.name}: {test.name}"
