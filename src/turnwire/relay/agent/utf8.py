"""Check that what an agent sends is UTF-8: short frames at once, long ones in steps."""

import codecs
from collections.abc import Iterator
from typing import Final

_STEP_BYTES: Final = 65_536
"""Bytes of a long frame that are checked in one step."""


def is_utf8(frame: bytes) -> bool:
    try:
        frame.decode()
    except UnicodeDecodeError:
        return False
    return True


def check_utf8(frame: bytes) -> Iterator[None]:
    """Check a long frame in short steps.

    Raises:
        UnicodeDecodeError: the frame is not valid UTF-8.

    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    for first in range(0, len(frame), _STEP_BYTES):
        decoder.decode(frame[first : first + _STEP_BYTES])
        yield
    decoder.decode(b"", final=True)
