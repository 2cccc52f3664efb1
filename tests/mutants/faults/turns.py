"""Turns that go on too long, end in silence or take others with them: `Turn` and its timers."""

import ast
from typing import Final

from mutants.edit import edited, without
from mutants.fault import Fault, Function
from turnwire.core.turn.client_state import Client
from turnwire.core.turn.limits import DisconnectPolicy
from turnwire.core.turn.outcome import Outcome


def also_when_draining(when_ended: Function) -> Function:
    def wrong(outcome: Outcome, policy: DisconnectPolicy, client: Client) -> bool:
        return outcome is Outcome.DRAINING or when_ended(outcome, policy, client)

    return wrong


def not_when_silent(when_ended: Function) -> Function:
    def wrong(outcome: Outcome, policy: DisconnectPolicy, client: Client) -> bool:
        return outcome is not Outcome.SILENT and when_ended(outcome, policy, client)

    return wrong


def as_deep_as_it_likes(steps: ast.YieldFrom) -> ast.YieldFrom:
    assert isinstance(steps.value, ast.Call)
    steps.value.args[-1] = ast.Constant(1_000_000)
    return steps


_TURN: Final = "turnwire.core.turn.turn:Turn"
_WHEN_ENDED: Final = "turnwire.core.turn.abort:when_ended"

FAULTS: Final = (
    Fault(
        "the short lane is not told of",
        "turnwire.core.ui_stream.output:UIMessageStream.feed_texts",
        without(ast.Expr),
    ),
    Fault("frames after the end are heard", f"{_TURN}.frames", without(ast.Break)),
    Fault("an end of our own says nothing", f"{_TURN}._end", without(ast.If, 4)),
    Fault("drain aborts the agent's turn", _WHEN_ENDED, also_when_draining),
    Fault("a silent agent's turn is not aborted", _WHEN_ENDED, not_when_silent),
    Fault(
        "a pause of the client counts as silence",
        "turnwire.core.turn.timers:Deadlines.reading_resumed",
        without(ast.If),
    ),
    Fault(
        "nesting is not measured",
        "turnwire.core.body.prompt:_parse",
        edited(ast.YieldFrom, as_deep_as_it_likes),
    ),
)
