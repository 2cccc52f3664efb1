"""The words of the code are those of the glossary."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src/turnwire"
LAB: Final = ROOT / "src/turnwire_lab"
RUNTIME: Final = ROOT / "packages/turnwire-agent/src"
CLIENT: Final = ROOT / "packages/turnwire-client/src"
TESTED: Final = (
    *(
        "bridge",
        "cli",
        "config",
        "conform",
        "core",
        "dialects",
        "doctor",
        "relay",
        "support",
        "web",
    ),
)
"""Folders of the tests of the gateway, and of what they share."""
WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def banned() -> set[str]:
    text = (ROOT / "docs/glossary.md").read_text()
    section = text.partition("## Words that names do not use\n")[2].partition("Say what")[0]
    return set(re.findall(r"`(\w+)`", section))


def names(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the text of each identifier."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def test_no_name_holds_a_word_that_says_nothing() -> None:
    words = banned()
    assert len(words) > 10

    modules = [path for folder in (SOURCE, LAB, RUNTIME, CLIENT) for path in folder.rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in modules
        for line, name in names(path)
        if words & {word.lower() for word in WORD.findall(name)}
    ]

    assert found == []
    assert [path for path in modules if words & set(path.stem.split("_"))] == []


@pytest.mark.parametrize("room", TESTED)
def test_no_helper_of_a_test_has_such_a_name(room: str) -> None:
    """The name of a test is a sentence, and may hold any word."""
    words = banned()
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in (ROOT / "tests" / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("test_")
        and words & {word.lower() for word in WORD.findall(node.name)}
    ]

    assert found == []


def test_a_code_name_in_the_glossary_exists() -> None:
    source = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    table = (ROOT / "docs/glossary.md").read_text().partition("## Words that names")[0]

    for name in re.findall(r"`(?:[\w.]*\.)?([A-Z]\w+)`", table):
        assert re.search(rf"\bclass {name}\b", source), name
