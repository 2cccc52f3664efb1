"""What there may be more of, and what a unit costs then."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

MODE: Final = "growth"


class Axis(Struct, frozen=True, kw_only=True):
    """One thing that grows. `counts` are geometric."""

    name: str
    counts: Sequence[int]
    figure: str
    """Of a round: processor time of the gateway per unit, in µs."""
    unit: str
    across: str
    """What is counted, as the label of a plot."""
    totals: bool
    """Whether a request has that many units, so that each unit adds to it."""

    @property
    def title(self) -> str:
        return f"CPU per {self.unit} against {self.across}"

    @property
    def case_prefix(self) -> str:
        """What stands before the count in the name of a case."""
        return f"{self.name} "

    def case(self, count: int) -> str:
        """The name of a point."""
        return f"{self.case_prefix}{count}"


SESSIONS: Final = Axis(
    name="sessions",
    counts=(32, 128, 512, 2_048, 8_192),
    figure="us_per_turn",
    unit="turn",
    across="sessions that had a turn in the process",
    totals=False,
)
STREAMS: Final = Axis(
    name="streams",
    counts=(1, 4, 16, 64, 256, 1_024),
    figure="us_per_frame",
    unit="frame",
    across="open streams that share 4,000 frames a second",
    totals=False,
)
LENGTH: Final = Axis(
    name="length",
    counts=(10, 100, 1_000, 10_000, 100_000),
    figure="us_per_frame",
    unit="frame",
    across="deltas of a turn",
    totals=True,
)
HISTORY: Final = Axis(
    name="history",
    counts=(2, 8, 31, 125, 500, 2_000),
    figure="us_per_message",
    unit="message",
    across="messages of the history that a client loads",
    totals=True,
)
OUTPUT: Final = Axis(
    name="output",
    counts=(1, 4, 16, 64, 256, 1_024),
    figure="us_per_kb",
    unit="KB",
    across="KB of a tool's output",
    totals=True,
)
AXES: Final[Sequence[Axis]] = (SESSIONS, STREAMS, LENGTH, HISTORY, OUTPUT)
