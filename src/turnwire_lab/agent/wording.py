"""How numbers and words become text."""

import re
from typing import Final

_PIECES: Final = re.compile(r"\s*\S+\s?|\s+")


def pieces(text: str) -> list[str]:
    """A text as the deltas it is told in: word by word, nothing lost."""
    return _PIECES.findall(text)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
