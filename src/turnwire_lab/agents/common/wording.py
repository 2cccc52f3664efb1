"""How numbers and words become text."""

import re
from typing import Final

_PIECES: Final = re.compile(r"\s*\S+\s?|\s+")
_ONES: Final = (
    *("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = (
    "",
    "",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
)


def pieces(text: str) -> list[str]:
    """Split a text into deltas: word by word, with every character kept."""
    return _PIECES.findall(text)


def in_words(number: int) -> str:
    """A number from 1 to 99 as it is spoken."""
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens]}-{_ONES[ones]}" if ones else _TENS[tens]


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
