"""Service levels: what share of turns may be bad in 30 days, and how fast that budget may burn.

The windows and factors are those of the multi-window, multi-burn-rate alerts of the SRE
workbook: a long window says that it is worth it, a short one that it still goes on.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from turnwire_lab.dashboards.alert import Alert, Condition, Record, Severity
from turnwire_lab.dashboards.outcomes import FAILED, NO_TURN, among, not_among

WINDOWS: Final = ("5m", "30m", "1h", "2h", "6h", "1d", "3d")

TURNS: Final = "job:turnwire_turns:increase1h"
TURNS_LEAST: Final = 10
"""Turns in an hour, below which one bad turn would be a bad share of them."""


class Burn(Struct, frozen=True):
    """`factor` times as fast as the budget lasts 30 days, over both windows."""

    factor: float
    long: str
    short: str


FAST: Final = (Burn(14.4, "1h", "5m"), Burn(6, "6h", "30m"))
SLOW: Final = (Burn(3, "1d", "2h"), Burn(1, "3d", "6h"))


class Level(Struct, frozen=True):
    """`objective`: the share that must be good. `bad` and `all` are rates over a window `{w}`."""

    name: str
    """As in the names of its alerts."""
    what: str
    """As in the names of its records."""
    objective: float
    bad: str
    all: str
    says: str
    """What is bad, after "… of the turns"."""

    def record(self, window: str) -> str:
        return f"job:{self.what}:ratio_rate{window}"

    @property
    def records(self) -> list[Record]:
        return [
            Record(
                self.record(window),
                f"{self.bad}\n/\n{self.all}".replace("{w}", window),
                f"Share of {self.says}, over {window}.",
            )
            for window in WINDOWS
        ]

    @property
    def alerts(self) -> list[Alert]:
        return [
            self._alert("Fast", FAST, Severity.CRITICAL, "2m", "five days"),
            self._alert("Slow", SLOW, Severity.WARNING, "15m", "the month"),
        ]

    def _alert(
        self, pace: str, burns: Sequence[Burn], severity: Severity, lasts: str, within: str
    ) -> Alert:
        enough = Condition(TURNS, ">", TURNS_LEAST)
        budget = 1 - self.objective
        return Alert(
            name=f"{self.name}Budget{pace}",
            severity=severity,
            when=tuple(
                (
                    Condition(self.record(burn.long), ">", burn.factor * budget),
                    Condition(self.record(burn.short), ">", burn.factor * budget),
                    *([enough] if pace == "Fast" else []),
                )
                for burn in burns
            ),
            lasts=lasts,
            summary=f"Too many {self.says}",
            description=(
                f"So many that the budget of {budget:.1%} in 30 days is gone within {within}. "
                "The value is their share over the longer window."
            ),
            show="humanizePercentage",
        )


_STREAMS: Final = f"sum by (job) (rate(turnwire_streams_total{{{not_among(NO_TURN)}}}[{{w}}]))"
_UNSERVED: Final = 'sum by (job) (rate(turnwire_refusals_total{code=~"unavailable|internal"}[{w}]))'

TURN: Final = Level(
    name="TurnwireTurn",
    what="turnwire_turns_failed",
    objective=0.99,
    bad=(
        f"(\n  sum by (job) (rate(turnwire_streams_total{{{among(FAILED)}}}[{{w}}]))\n"
        f"  + {_UNSERVED}\n)"
    ),
    all=f"(\n  {_STREAMS}\n  + {_UNSERVED}\n)",
    says="turns that failed, or were answered 503 or 500",
)


def _slower(metric: str, bucket: str) -> str:
    every = f"sum by (job) (rate({metric}_count[{{w}}]))"
    return f'(\n  {every}\n  - sum by (job) (rate({metric}_bucket{{le="{bucket}"}}[{{w}}]))\n)'


FIRST_BYTE: Final = Level(
    name="TurnwireFirstByte",
    what="turnwire_first_byte_late",
    objective=0.99,
    bad=_slower("turnwire_time_to_first_byte_seconds", "0.5"),
    all="sum by (job) (rate(turnwire_time_to_first_byte_seconds_count[{w}]))",
    says="streams whose first byte came after 500 ms",
)

RELAY: Final = Level(
    name="TurnwireRelay",
    what="turnwire_relay_late",
    objective=0.999,
    bad=_slower("turnwire_relay_seconds", "0.005"),
    all="sum by (job) (rate(turnwire_relay_seconds_count[{w}]))",
    says="reads of frames that took more than 5 ms to the client",
)

LEVELS: Final = (TURN, FIRST_BYTE, RELAY)
