r"""Finds and replaces halves of surrogate pairs in JSON, so that a decoder takes it.

A text that was cut inside of a character ends with such a half: JavaScript writes it as an escape
like `\ud83d`, and no UTF-8 can hold it. A decoder refuses the whole body because of it. Where a
client keeps the conversation, it would send that body again with each prompt.

Use: `find_in_steps(data)` returns where the escapes are, `replace_in_steps` puts another escape of
the same length there.
"""

import re
from array import array
from collections.abc import Sequence
from typing import Final

from turnwire.core.steps import Steps

ESCAPE_BYTES: Final = 6

_STEP_BYTES: Final = 65_536
_ESCAPES_AT_ONCE: Final = 1_000
_RUN_BYTES: Final = 64
"""Backslashes in a row that are looked for first."""

_ESCAPE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_LOW: Final = re.compile(rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HIGH_DIGITS: Final = b"89abAB"
_DIGIT_AT: Final = 3
"""Where in an escape the digit is that tells a high surrogate from a low one."""


def find_in_steps(data: bytes) -> Steps[Sequence[int]]:
    """Return the positions of the escapes of surrogates that have no other half."""
    lone = array("Q")
    after_pair = found = 0
    for begin in range(0, len(data), _STEP_BYTES):
        end = begin + _STEP_BYTES
        for match in _ESCAPE.finditer(data, begin, end + ESCAPE_BYTES - 1):
            position = match.start()
            if after_pair <= position < end and not _is_escaped(data, position):
                after = position + ESCAPE_BYTES
                is_high = data[position + _DIGIT_AT] in _HIGH_DIGITS
                if is_high and _LOW.match(data, after) is not None:
                    after_pair = after + ESCAPE_BYTES
                else:
                    lone.append(position)
            found += 1
            if not found % _ESCAPES_AT_ONCE:
                yield
        yield
    return lone


def replace_in_steps(data: bytes, positions: Sequence[int], escape: bytes) -> Steps[bytes]:
    """Put this escape at each of these positions, in place of the escapes there."""
    replaced = bytearray(data)
    for number, position in enumerate(positions):
        replaced[position : position + ESCAPE_BYTES] = escape
        if not number % _ESCAPES_AT_ONCE:
            yield
    return bytes(replaced)


def _is_escaped(data: bytes, position: int) -> bool:
    """Whether an odd number of backslashes stands before a position."""
    most = _RUN_BYTES
    while True:
        before = data[max(0, position - most) : position]
        run = len(before) - len(before.rstrip(b"\\"))
        if run < most:
            return run % 2 == 1
        most *= 4
