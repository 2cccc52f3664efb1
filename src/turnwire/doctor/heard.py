"""A stream as it arrived: each piece with its time, and the records that they make."""

import json
from functools import cached_property
from itertools import pairwise
from typing import Final

from msgspec import Struct

TOGETHER_S: Final = 0.01
"""What arrives within it arrived at once."""


class Piece(Struct, frozen=True):
    at: float
    data: bytes


class Record(Struct, frozen=True):
    """`kind` is a chunk's type, `keepalive`, `[DONE]`, or empty for what is none of ours."""

    at: float
    kind: str


class Heard:
    """One response. Times are of one clock, in seconds; `ended_at` is None while it goes on."""

    def __init__(self, asked_at: float, head_at: float) -> None:
        self.asked_at = asked_at
        self.head_at = head_at
        self.pieces: list[Piece] = []
        self.ended_at: float | None = None
        self.broke = False
        """Whether the connection broke, rather than ended."""
        self.late_s = 0.0
        """The longest delay that was the doctor's own."""
        self.all_late_s = 0.0
        """All of them together."""

    @cached_property
    def records(self) -> list[Record]:
        """Those that came whole; each at the time of its last byte."""
        found: list[Record] = []
        rest = b""
        for piece in self.pieces:
            *whole, rest = (rest + piece.data).split(b"\n\n")
            found += [Record(piece.at, _kind(record)) for record in whole]
        return found

    @property
    def kinds(self) -> list[str]:
        return [record.kind for record in self.records]

    @property
    def is_whole(self) -> bool:
        return "finish" in self.kinds

    @property
    def last_at(self) -> float:
        return self.pieces[-1].at if self.pieces else self.head_at

    @property
    def bunches(self) -> list[list[Record]]:
        """The records that arrived at once, together."""
        found: list[list[Record]] = []
        for record in self.records:
            if found and record.at - found[-1][-1].at <= TOGETHER_S:
                found[-1].append(record)
            else:
                found.append([record])
        return found

    @property
    def longest_silence_s(self) -> float:
        times = [self.head_at, *(piece.at for piece in self.pieces)]
        return max((b - a for a, b in pairwise(times)), default=0.0)


def _kind(record: bytes) -> str:
    if record.startswith(b":"):
        return "keepalive"
    data = b"\n".join(line[6:] for line in record.split(b"\n") if line.startswith(b"data: "))
    if data == b"[DONE]":
        return "[DONE]"
    try:
        kind = json.loads(data).get("type")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return kind if isinstance(kind, str) else ""
