"""Count the values of a long frame before it is decoded, to bound what a decoder would build.

`yield from census(frame, depth)` raises if there are too many. A decoder takes a frame in one call,
and the objects that it builds of `[{},{},…]` take thirty times the memory of the frame, and half a
minute. So a frame of more than `LONG_BYTES` is counted first, in short steps. Only the levels that
the dialect decodes into objects are counted as values; deeper levels stay raw JSON, and are only
skipped.
"""

import re
from collections.abc import Iterator
from typing import Final

from turnwire.core.bounds import DEPTH_MAX, SKIPPED_MAX, VALUES_MAX

STEP_BYTES: Final = 16_384
"""Bytes that are counted in one step. It takes 0.1 ms for a history, and a few milliseconds for a
frame that consists of brackets."""

_NOT_COUNTED: Final = bytes(set(range(256)) - set(b'[]{},"'))
_STRING: Final = re.compile(rb'"[^"]*+"')
_RUN: Final = re.compile(rb",++|[\[{]++|[\]}]++")
_COMMA: Final = ord(",")
_OPENING: Final = b"[{"


class TooManyError(Exception):
    """A frame has more values than any valid frame of an agent."""


class TooDeepError(TooManyError):
    """A frame is nested deeper than any valid frame of an agent."""


def census(
    frame: bytes, depth: int, values_max: int = VALUES_MAX, depth_max: int = DEPTH_MAX
) -> Iterator[None]:
    """Count the values of a frame that are nested in at most `depth` lists and objects.

    Yields after each step. Invalid JSON is counted too; the decoder rejects it later.

    Raises:
        TooManyError: there are more than `values_max` such values, or more than `SKIPPED_MAX`
            values at all levels.
        TooDeepError: a value is nested deeper than `depth_max`.

    """
    level = values = skipped = position = 0
    is_in_string = False
    while position < len(frame):
        end = position + STEP_BYTES
        piece = frame[position:end]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2:  # do not split an escape
            end += 1
            piece = frame[position:end]
        marks = _outside_of_strings(piece, is_in_string=is_in_string)
        is_in_string = marks.endswith(b'"')
        position = end
        for run in _RUN.findall(marks):
            count = len(run)
            if run[0] == _COMMA:
                values += count if level <= depth else 0
                skipped += count
            elif run[0] in _OPENING:
                values += max(0, min(count, depth - level))
                level += count
            else:
                level -= count
            if values > values_max or skipped > SKIPPED_MAX:
                raise TooManyError(
                    f"more than {values_max} values, or {SKIPPED_MAX} with those within"
                )
            if level > depth_max:
                raise TooDeepError(f"nested deeper than {depth_max}")
        yield


def _outside_of_strings(piece: bytes, *, is_in_string: bool) -> bytes:
    """Return the brackets and commas of a piece of JSON that are outside of its strings.

    If the piece ends inside a string, the result ends with a quotation mark.
    `is_in_string`: whether the piece begins inside a string.
    """
    marks = piece.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NOT_COUNTED)
    if is_in_string:
        marks = b'"' + marks
    marks = _STRING.sub(b"", marks.replace(b'""', b""))
    if (open_index := marks.find(b'"')) >= 0:
        marks = marks[: open_index + 1]
    return marks
