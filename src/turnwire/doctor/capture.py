"""A captured response: each piece of its body with its time, and the records in them."""

import json
from functools import cached_property
from itertools import pairwise
from typing import Final

from msgspec import Struct

SAME_TIME_S: Final = 0.01
"""Records that arrive within this time count as arrived together."""


class Piece(Struct, frozen=True):
    """One read of the body, with the time of its arrival."""

    arrived_at: float
    data: bytes


class Record(Struct, frozen=True):
    """A record and the time of its last byte.

    `kind` is the type of the chunk, `keepalive`, `[DONE]`, or empty for any other record.
    """

    arrived_at: float
    kind: str
    error: str = ""
    """The text of an error."""


class Capture:
    """One response. Times are of the loop's clock, in seconds; `ended_at` is None until the end."""

    def __init__(self, sent_at: float, head_at: float) -> None:
        self.sent_at = sent_at
        self.head_at = head_at
        self.pieces: list[Piece] = []
        self.ended_at: float | None = None
        self.is_broken = False
        """Whether the connection broke, instead of an orderly end."""
        self.max_delay_s = 0.0
        """The longest delay of the doctor's own event loop, in seconds."""
        self.total_delay_s = 0.0
        """The sum of these delays, in seconds."""

    @cached_property
    def records(self) -> list[Record]:
        """The complete records, each with the time of its last byte."""
        records: list[Record] = []
        rest = b""
        for piece in self.pieces:
            *complete, rest = (rest + piece.data).split(b"\n\n")
            records += [Record(piece.arrived_at, *_kind(record)) for record in complete]
        return records

    @property
    def kinds(self) -> list[str]:
        return [record.kind for record in self.records]

    @property
    def error(self) -> str | None:
        """The text of the stream's error; None if it has none."""
        return next((record.error for record in self.records if record.kind == "error"), None)

    @property
    def is_complete(self) -> bool:
        return "finish" in self.kinds

    @property
    def last_at(self) -> float:
        return self.pieces[-1].arrived_at if self.pieces else self.head_at

    @property
    def bunches(self) -> list[list[Record]]:
        """The records in groups that arrived together."""
        bunches: list[list[Record]] = []
        for record in self.records:
            if bunches and record.arrived_at - bunches[-1][-1].arrived_at <= SAME_TIME_S:
                bunches[-1].append(record)
            else:
                bunches.append([record])
        return bunches

    @property
    def longest_silence_s(self) -> float:
        times = [self.head_at, *(piece.arrived_at for piece in self.pieces)]
        return max((b - a for a, b in pairwise(times)), default=0.0)


def _kind(record: bytes) -> tuple[str, str]:
    """The kind of a record, and the text of an error."""
    if record.startswith(b":"):
        return "keepalive", ""
    data = b"\n".join(line[6:] for line in record.split(b"\n") if line.startswith(b"data: "))
    if data == b"[DONE]":
        return "[DONE]", ""
    try:
        chunk = json.loads(data)
        kind, error = chunk.get("type"), chunk.get("errorText")
    except (ValueError, AttributeError, RecursionError):
        return "", ""
    return kind if isinstance(kind, str) else "", error if isinstance(error, str) else ""
