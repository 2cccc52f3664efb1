"""How a stream ends: the outcomes, and the rules which of them a stream has.

`VERDICTS` maps the agent's verdict to an outcome, `outcome_of` maps a rejection. If the client
left before the end, `outcome_without_client` replaces that outcome. If the end did not reach the
client, `undelivered_outcome` may replace it. `final_outcome` is for a stream without an outcome.
"""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Self

from turnwire.core.events import Reason
from turnwire.core.rejection import Rejection
from turnwire.core.turn import inputs
from turnwire.core.turn.inputs import Input


class Outcome(enum.Enum):
    """The end of one stream.

    `value` is the `outcome` label in the metrics, so renaming one breaks
    dashboards. `text` is the `errorText` that the gateway gives the client. It is
    None if the client gets no error, or one with the agent's own text (`FAILED`).
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
        (
            "the agent's side rejected the request after the response headers. Before them the"
            " outcome is the same, and the client gets an HTTP status (400, 401, 404, 409, 501,"
            " 503)"
        ),
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
    AGENT_REFUSED = (
        "agent_refused",
        "The agent refused the request",
        "the agent answered the request with an HTTP status that is an error, such as 400 or 500",
    )
    INTERRUPTED = (
        "interrupted",
        "Stream interrupted",
        (
            "the connection to the agent ended before the turn did: the agent closed it, vanished,"
            " or broke the transport's rules, or the gateway closed it (stalled agent, no memory)"
        ),
    )
    UNSOUND = (
        "unsound",
        "Stream interrupted",
        "the agent sent data that no correct agent sends, such as many unreadable frames",
    )
    SILENT = "silent", "Agent stopped responding", "the agent was silent for too long"
    TOO_LONG = "too_long", "Turn took too long", "the turn reached the longest time of a turn"
    EXPIRED = "expired", "The token has expired", "the client's token expired in mid-turn"
    UNNAMED = (
        "unnamed",
        "The agent does not say whose answer this is",
        "a turn began without a prompt's id, and it may answer a prompt of another process",
    )
    SLOW_CLIENT = (
        "slow_client",
        "Client too slow",
        "the client did not read, or not to the end; it is cut, so it rarely gets the error",
    )
    CRASHED = "crashed", "Internal error", "the gateway was killed in mid-turn, or has a bug"
    DRAINING = "draining", "Gateway restarting", "the gateway stops, and the drain time is over"


VERDICTS: Final[Mapping[Reason, Outcome]] = MappingProxyType(
    {
        Reason.END_TURN: Outcome.COMPLETED,
        Reason.ERROR: Outcome.FAILED,
        Reason.CANCELED: Outcome.CANCELED,
    }
)
"""The outcome for each reason that the agent gives for the end of a turn."""


INCOMPLETE: Final = frozenset({Outcome.SLOW_CLIENT, Outcome.CLIENT_GONE, Outcome.ABANDONED, None})
"""Outcomes of streams that the client did not receive completely; None: the stream crashed."""

BY_AGENT: Final = frozenset({*VERDICTS.values(), Outcome.ASKED}) - {Outcome.CANCELED}
"""Outcomes by which the agent itself has ended its turn, so that nothing is left to abort.

A turn is also canceled by a stop beside the stream: then the agent still works.
"""

ENDS: Final[Mapping[type[Input], Outcome]] = MappingProxyType(
    {
        inputs.Stopped: Outcome.CANCELED,
        inputs.AgentLeft: Outcome.INTERRUPTED,
        inputs.Unreachable: Outcome.UNREACHABLE,
        inputs.Refused: Outcome.AGENT_REFUSED,
        inputs.Unsound: Outcome.UNSOUND,
    }
)
"""The outcome of a turn that such an input ends."""


def outcome_of(rejection: Rejection, *, headers_due: bool) -> Outcome:
    """The outcome of a rejected request.

    `headers_due`: the response headers are due or sent, so that the rejection can only be an error
    in the stream, and no longer an HTTP status.
    """
    if headers_due:
        return Outcome.UNNAMED if rejection is Rejection.UNNAMED else Outcome.REFUSED
    return Outcome.NOTHING if rejection is Rejection.NO_TURN else Outcome.REFUSED


_SUCCESSES: Final = frozenset({Outcome.COMPLETED, Outcome.ASKED})


def undelivered_outcome(outcome: Outcome | None, *, stalled: bool) -> Outcome | None:
    """The outcome of a stream whose end did not reach the client: it stalled or disconnected.

    A success is reported only if the end arrived. Every other outcome stays, since it names
    another fault.
    """
    if outcome not in _SUCCESSES:
        return outcome
    return Outcome.SLOW_CLIENT if stalled else Outcome.CLIENT_GONE


def outcome_without_client(cut_off: Outcome | None, *, has_begun: bool) -> Outcome:
    """The outcome of a stream whose client left before its end.

    `cut_off`: why the gateway closed the client's connection, if it did. `has_begun`: our turn
    began at the agent.
    """
    if cut_off is not None:
        return cut_off
    return Outcome.CLIENT_GONE if has_begun else Outcome.ABANDONED


def final_outcome(outcome: Outcome | None, dial_status: int | None) -> Outcome:
    """The outcome for log, metrics and recording of a stream that is over.

    A stream without an outcome crashed, unless the agent answered the dial with an HTTP status
    (`dial_status`): then the request was refused.
    """
    return outcome or (Outcome.CRASHED if dial_status is None else Outcome.REFUSED)
