"""The words of each wire are those that its dialect reads or writes."""

import re
from pathlib import Path

import pytest

import turnwire.dialects
from turnwire.conform.words import WORDS
from turnwire.dialects import DIALECTS

FOLDER = Path(turnwire.dialects.__file__).parent


def test_each_wire_has_words() -> None:
    assert WORDS.keys() == DIALECTS.keys()


@pytest.mark.parametrize("name", WORDS)
def test_its_words_are_in_its_dialect(name: str) -> None:
    files = (FOLDER / name.replace("-", "_")).rglob("*.py")
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    named = re.findall(r"`([^`]+)`", WORDS[name])
    assert len(named) >= 4
    assert [
        word for word in named if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", source)
    ] == []
