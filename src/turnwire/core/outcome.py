"""How a stream ends."""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Self

from turnwire.core.events import Reason
from turnwire.core.refusal import Refusal


class Outcome(enum.Enum):
    """The end of one stream.

    `value` is the `outcome` label in the metrics, so renaming one breaks
    dashboards. `text` is what the client is told as `errorText`, None where
    the agent's own verdict (or nobody) is told.
    """

    text: str | None
    meaning: str

    def __new__(cls, value: str, text: str | None, meaning: str) -> Self:
        self = object.__new__(cls)
        self._value_ = value
        self.text = text
        self.meaning = meaning
        return self

    COMPLETED = "completed", None, "the agent finished the turn"
    FAILED = "failed", None, "the agent said that the turn failed"
    CANCELED = "canceled", None, "the agent said that the turn was canceled"
    REFUSED = (
        "refused",
        "The session cannot take this prompt",
        "the session cannot take the prompt (409)",
    )
    NOTHING = "nothing", None, "there was no turn to resume (204)"
    ASKED = (
        "asked",
        None,
        "the agent waits for an approval; the client answers it in a request of its own",
    )
    CLIENT_GONE = "client_gone", None, "the client hung up, or vanished, before it had the end"
    ABANDONED = "abandoned", None, "the client hung up, and our turn never began"
    UNREACHABLE = "unreachable", "Connection failed", "the agent could not be dialled"
    INTERRUPTED = "interrupted", "Stream interrupted", "the agent's side closed in mid-turn"
    UNSOUND = (
        "unsound",
        "Stream interrupted",
        "the agent sent what none sends that means well: runs of frames that say nothing",
    )
    SILENT = "silent", "Agent stopped responding", "the agent was silent for too long"
    TOO_LONG = "too_long", "Turn took too long", "the turn reached the longest time of a turn"
    EXPIRED = "expired", "The token has expired", "the client's token expired in mid-turn"
    UNNAMED = (
        "unnamed",
        "The agent does not say whose answer this is",
        "the agent named no prompt, and another process may have asked for the turn",
    )
    SLOW_CLIENT = "slow_client", "Client too slow", "the client did not read, or not to the end"
    CRASHED = "crashed", None, "the gateway was killed in mid-turn, or has a bug"
    DRAINING = "draining", "Gateway restarting", "the gateway stops, and the drain time is over"


VERDICTS: Final[Mapping[Reason, Outcome]] = MappingProxyType(
    {
        Reason.END_TURN: Outcome.COMPLETED,
        Reason.ERROR: Outcome.FAILED,
        Reason.CANCELED: Outcome.CANCELED,
    }
)
"""What the agent says of how a turn ended."""


def outcome_of(why: Refusal, *, is_told: bool) -> Outcome:
    """How a stream ends that was refused; `is_told` once it can be told in the stream alone."""
    if is_told:
        return Outcome.UNNAMED if why is Refusal.UNNAMED else Outcome.REFUSED
    return Outcome.NOTHING if why is Refusal.NOTHING else Outcome.REFUSED


_ALL_WELL: Final = frozenset({Outcome.COMPLETED, Outcome.ASKED})


def missed(outcome: Outcome | None, *, stalled: bool) -> Outcome | None:
    """How a stream ended whose client never had its end: it stalled, or it hung up before.

    That all is well is said only of what arrived. Other outcomes say what else went wrong.
    """
    if outcome not in _ALL_WELL:
        return outcome
    return Outcome.SLOW_CLIENT if stalled else Outcome.CLIENT_GONE
