"""The tests that docs/ag-ui.md names are there, in the files that it names."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
HOME: Final = ROOT / "tests" / "dialects" / "ag_ui"
PAGE: Final = (ROOT / "docs" / "ag-ui.md").read_text(encoding="utf-8")
TABLE: Final = PAGE.partition("## What tests hold")[2]
NAMED: Final = re.findall(r"`([\w/]+\.py)`(?: \(([^)]+)\))?", TABLE)
"""Files, each with the tests that are named of it."""


def test_the_page_names_tests() -> None:
    assert len(NAMED) > 25
    assert sum("test_" in names for _, names in NAMED) > 15


@pytest.mark.parametrize(("file", "names"), NAMED)
def test_a_test_that_is_named_is_there(file: str, names: str) -> None:
    path = ROOT / file if file.startswith("tests/") else HOME / file

    source = path.read_text(encoding="utf-8")
    for name in re.findall(r"test_\w+", names):
        assert f"def {name}(" in source
