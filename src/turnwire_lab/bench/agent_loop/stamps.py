"""Chunks of text that say when they were written, so that whoever reads them knows their age."""

import re
import time
from collections.abc import Iterator
from typing import Final

STAMP_CHARS: Final = 10
_WRAP_US: Final = 10**9
_STAMP: Final = re.compile(rb"(\d{9}) ")


def stamp() -> bytes:
    """Now, as a chunk of text."""
    return b"%09d " % _now_us()


def ages_us(text: bytes) -> Iterator[int]:
    """How many microseconds ago each chunk in a text was written."""
    now = _now_us()
    return ((now - int(found[1])) % _WRAP_US for found in _STAMP.finditer(text))


def _now_us() -> int:
    return time.monotonic_ns() // 1000 % _WRAP_US
