"""What is not ours on the `session-agent` wire: turns, prompts and questions of others."""

import ast
from typing import Final

from msgspec import Raw

from mutants.edit import decided, instead, unasked, without
from mutants.fault import Fault, Function
from mutants.wrong import always, nothing_is_done
from turnwire.dialects.session_agent.answer import PendingAnswer

_WIRE: Final = "turnwire.dialects.session_agent"
_BINDING: Final = f"{_WIRE}.binding:TurnBinding"
_TURN: Final = f"{_WIRE}.turn:TurnProtocol"

_AGENT: Final = ("dialects/session_agent",)
_OPEN_QUESTIONS: Final = ("dialects/session_agent/test_open_questions.py",)


def whatever_was_answered(question_answered: Function) -> Function:
    def wrong(self: PendingAnswer, _value: Raw | None) -> None:
        question_answered(self, None)

    return wrong


FAULTS: Final = (
    Fault(
        "an abort may hit a neighbour",
        f"{_BINDING}._stops_ours_alone",
        instead(ast.BoolOp, "True", nth=2),
        _AGENT,
    ),
    Fault("another author's prompt is ours", f"{_BINDING}._is_our_echo", unasked(2), _AGENT),
    Fault("a prompt is claimed twice", f"{_BINDING}._is_our_echo", unasked(5), _AGENT),
    Fault(
        "another channel's turn is ours",
        f"{_BINDING}.turn_began",
        decided(ast.If, outcome=True),
        _AGENT,
    ),
    Fault("a dead session is prompted", f"{_TURN}._init_received", unasked(1), _AGENT),
    Fault(
        "a suspected end does not hold the abort back",
        f"{_TURN}.abort_scope",
        decided(ast.IfExp, outcome=False),
        _AGENT,
    ),
    Fault(
        "a sign of life takes nothing back",
        f"{_WIRE}.progress:CompletionDetector.reset",
        without(ast.Assign),
        _AGENT,
    ),
    Fault(
        "a repeated snapshot is told again",
        f"{_WIRE}.snapshots:Snapshots.changes",
        instead(ast.Compare, "True", nth=3),
        _AGENT,
    ),
    Fault(
        "somebody else's answer counts as ours",
        f"{_WIRE}.answer:PendingAnswer._question_answered",
        whatever_was_answered,
        _AGENT,
    ),
    Fault(
        "a stop may stop a neighbour",
        f"{_WIRE}.stop:StopOperation._stop_r",
        decided(ast.If, outcome=False, nth=3),
        _AGENT,
    ),
    Fault(
        "a question is closed on whichever channel",
        f"{_WIRE}.questions:OpenQuestions.closed",
        instead(ast.Compare, "True", nth=3),
        _OPEN_QUESTIONS,
    ),
    Fault(
        "a prompt that another process may have sent is aborted",
        f"{_BINDING}._is_certain",
        always,
        ("dialects/session_agent/test_apart.py",),
    ),
    Fault(
        "an early frame of ours stays another's",
        f"{_WIRE}.open_turns:OpenTurns.exclude_ours",
        nothing_is_done,
        _OPEN_QUESTIONS,
    ),
)
