"""Lost attempts, steps and finish reasons: what is taken back, from whom, and what stays."""

import ast
from typing import Final

from mutants.edit import decided, instead, unasked, without
from mutants.fault import Fault
from mutants.wrong import nothing_is_done

_TRANSLATOR: Final = "turnwire.core.ui_stream.translator:Translator"
_CALLS: Final = "turnwire.core.ui_stream.tool_calls:Calls"
_TOLD: Final = "turnwire.core.ui_stream.part_count:PartCount"
_TEXT: Final = "turnwire.core.ui_stream.sent_text:SentText"

_ATTEMPTS: Final = ("core/ui_stream/test_attempts.py",)
_FINISH: Final = ("core/ui_stream/test_finish.py",)
_OF_V2: Final = ("dialects/v2/test_attempts.py",)

FAULTS: Final = (
    Fault(
        "every client is sent reset-step",
        f"{_TRANSLATOR}._retract",
        unasked(1, nth=3),
        _ATTEMPTS,
    ),
    Fault(
        "more than what is taken back is reset",
        f"{_TRANSLATOR}._retract",
        unasked(2, nth=2),
        _ATTEMPTS,
    ),
    Fault(
        "what was asked in a step is reset with it",
        f"{_TRANSLATOR}._retract",
        unasked(3, nth=2),
        _ATTEMPTS,
    ),
    Fault(
        "what may be in an earlier response is reset",
        f"{_TRANSLATOR}._retract",
        unasked(2, nth=3),
        _ATTEMPTS,
    ),
    Fault(
        "a step begins while a call is open",
        f"{_TRANSLATOR}._has_open_calls",
        instead(ast.BoolOp, "False"),
        _ATTEMPTS,
    ),
    Fault(
        "a call that was taken back is remembered",
        f"{_CALLS}.retract",
        without(ast.Delete),
        _ATTEMPTS,
    ),
    Fault(
        "calls from before the attempt are taken back",
        f"{_CALLS}.retract",
        instead(ast.Compare, "True"),
        _ATTEMPTS,
    ),
    Fault(
        "text behind a step is no part of its own", f"{_TOLD}.end_block", nothing_is_done, _ATTEMPTS
    ),
    Fault(
        "the final text is compared with what was taken back",
        f"{_TEXT}.retracted",
        instead(ast.Return, "return self"),
        _ATTEMPTS,
    ),
    Fault(
        "a client that was reset is thought to have the lost text",
        "turnwire.core.ui_stream.replayed_turn:ReplayedTurn.reset_step",
        nothing_is_done,
        _ATTEMPTS,
    ),
    Fault(
        "a word of the agent is sent as a finish reason",
        "turnwire.core.ui_stream.finish:_reason",
        decided(ast.IfExp, outcome=True),
        _FINISH,
    ),
    Fault(
        "clients of 5.0.0 are sent a finish reason",
        "turnwire.core.ui_stream.finish:last_chunks",
        decided(ast.IfExp, outcome=True),
        _FINISH,
    ),
    Fault(
        "the history shows a lost attempt",
        "turnwire.dialects.v2.progress:history_events",
        decided(ast.If, outcome=False),
        _OF_V2,
    ),
    Fault(
        "an equal second attempt is taken for a repetition",
        "turnwire.dialects.v2.turn:TurnProtocol._retracted",
        without(ast.Assign),
        _OF_V2,
    ),
    Fault(
        "the last piece of an input comes after its end",
        "turnwire.dialects.v2.progress:call_events",
        decided(ast.IfExp, outcome=True),
        _OF_V2,
    ),
)
