"""How much would be built of a long frame: its values are counted before it is decoded.

A decoder takes a frame in one go, and what it builds of `[{},{},…]` is thirty times as long as
that and takes half a minute. So a frame of more than `LONG_BYTES` is counted first, in steps
that are short each, and only as deep as it is taken apart: what stands deeper is carried along
unread, however much it is.
"""

import re
from collections.abc import Iterator
from typing import Final

from turnwire.core.bounds import DEPTH_MAX, SKIPPED_MAX, VALUES_MAX

STEP_BYTES: Final = 16_384
"""How much is counted between two steps: 0.1 ms of a history, a few of nothing but brackets."""

_NOT_COUNTED: Final = bytes(set(range(256)) - set(b'[]{},"'))
_STRING: Final = re.compile(rb'"[^"]*+"')
_RUN: Final = re.compile(rb",++|[\[{]++|[\]}]++")
_COMMA: Final = ord(",")
_OPENING: Final = b"[{"


class TooManyError(Exception):
    """More would be built of a frame than anybody means."""


class TooDeepError(TooManyError):
    """It is nested deeper than anybody means."""


def census(
    frame: bytes, depth: int, most: int = VALUES_MAX, deepest: int = DEPTH_MAX
) -> Iterator[None]:
    """Count the values of a frame that are nested in no more than `depth` lists and objects.

    What is no JSON is counted all the same; to refuse it is the decoder's business.

    Raises:
        TooManyError: they are more than `most`, or there are far more within them.
        TooDeepError: something is nested deeper than `deepest`.

    """
    level = values = skipped = at = 0
    is_within = False
    while at < len(frame):
        end = at + STEP_BYTES
        piece = frame[at:end]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2:  # or an escape would be parted
            end += 1
            piece = frame[at:end]
        marks = _outside_of_strings(piece, is_within=is_within)
        is_within = marks.endswith(b'"')
        at = end
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
            if values > most or skipped > SKIPPED_MAX:
                raise TooManyError(f"more than {most} values, or {SKIPPED_MAX} with those within")
            if level > deepest:
                raise TooDeepError(f"nested deeper than {deepest}")
        yield


def _outside_of_strings(piece: bytes, *, is_within: bool) -> bytes:
    """Brackets and commas that are not in a string; with a quotation mark behind, it ends in one.

    `is_within`: it begins in one.
    """
    marks = piece.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NOT_COUNTED)
    if is_within:
        marks = b'"' + marks
    marks = _STRING.sub(b"", marks.replace(b'""', b""))
    if (open_at := marks.find(b'"')) >= 0:
        marks = marks[: open_at + 1]
    return marks
