"""docs/v2.md, as the tests of it read it."""

import json
import re
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).parents[2]
_BLOCK: Final = re.compile(r"<!-- (.+?) -->\n```\w+\n(.*?)```", re.DOTALL)

TEXT: Final = (_ROOT / "docs" / "v2.md").read_text(encoding="utf-8")


def blocks(page: str) -> dict[str, str]:
    """What its code blocks say, by the comment before each."""
    return dict(_BLOCK.findall(page))


BLOCKS: Final = blocks(TEXT)

SENT: Final[dict[str, dict[str, Any]]] = {
    name.removeprefix("sent: "): json.loads(code)
    for name, code in BLOCKS.items()
    if name.startswith("sent: ")
}
"""The frames that a gateway is said to send."""

INIT: Final[dict[str, Any]] = json.loads(BLOCKS["told: init"])


def table(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, its head first."""
    below = TEXT.split(f"{heading}\n", 1)[1]
    return _rows(below[below.index("\n| ") + 1 :])


def table_headed(name: str) -> list[list[str]]:
    """The rows of the table whose first column has this name, its head first."""
    return _rows(TEXT[TEXT.index(f"\n| {name} |") + 1 :])


def _rows(text: str) -> list[list[str]]:
    """The rows of the table that a text begins with."""
    lines = text.split("\n\n", 1)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [rows[0], *rows[2:]]
