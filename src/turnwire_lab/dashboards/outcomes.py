"""Groups of outcomes, by who caused them, as matchers of the `outcome` label."""

from collections.abc import Iterable
from typing import Final

from turnwire.core.turn.outcome import Outcome

NO_TURN: Final = frozenset({Outcome.REFUSED, Outcome.NOTHING})
"""Streams that were none: an HTTP status was the answer."""

BY_US: Final = frozenset(
    {
        Outcome.UNREACHABLE,
        Outcome.INTERRUPTED,
        Outcome.UNSOUND,
        Outcome.SILENT,
        Outcome.TOO_LONG,
        Outcome.EXPIRED,
        Outcome.UNNAMED,
        Outcome.SLOW_CLIENT,
        Outcome.CRASHED,
        Outcome.DRAINING,
    }
)
"""Streams that the gateway ended, by an error or a limit (the RFC's server aborts)."""

ERRORS: Final = BY_US | {Outcome.FAILED, Outcome.AGENT_REFUSED}
"""Streams whose client got an error."""

FAILED: Final = ERRORS - {Outcome.EXPIRED, Outcome.SLOW_CLIENT}
"""Turns that failed their user, who did nothing about it."""


def among(outcomes: Iterable[Outcome]) -> str:
    return f'outcome=~"{_any(outcomes)}"'


def not_among(outcomes: Iterable[Outcome]) -> str:
    return f'outcome!~"{_any(outcomes)}"'


def _any(outcomes: Iterable[Outcome]) -> str:
    wanted = set(outcomes)
    return "|".join(each.value for each in Outcome if each in wanted)
