"""What is not ours on the `v2` wire: turns, questions and errands of others."""

import ast
from typing import Final

from mutants.edit import decided, instead, unasked, without
from mutants.fault import Fault, Function
from mutants.wrong import always
from turnwire.core import events
from turnwire.core.agent import Decoded
from turnwire.dialects.v2.frames import Read, ReasoningDelta
from turnwire.dialects.v2.turn import TurnProtocol

_BINDING: Final = "turnwire.dialects.v2.binding:TurnBinding"
_TURN: Final = "turnwire.dialects.v2.turn:TurnProtocol"
_OPEN_TURNS: Final = "turnwire.dialects.v2.open_turns:OpenTurns"
_STOP: Final = "turnwire.dialects.v2.stop:StopOperation"
_ANSWER: Final = "turnwire.dialects.v2.answer:AnswerOperation"

_QUESTIONS: Final = ("dialects/v2/test_questions.py",)
_EARLY: Final = ("dialects/v2/test_early_frames.py",)
_APART: Final = ("dialects/v2/test_apart.py",)
_OPERATIONS: Final = ("dialects/v2/test_stop.py", "dialects/v2/test_answer.py")
_ANSWERS: Final = ("dialects/v2/test_answer.py",)


def whoever_reasons(interpret_frame: Function) -> Function:
    def wrong(self: TurnProtocol, frame: Read, raw: bytes) -> Decoded | None:
        if isinstance(frame, ReasoningDelta):
            return Decoded([events.ReasoningDelta(frame.delta)])
        decoded: Decoded | None = interpret_frame(self, frame, raw)
        return decoded

    return wrong


FAULTS: Final = (
    Fault(
        "an abort may hit another turn",
        f"{_BINDING}.abort_scope",
        decided(ast.IfExp, outcome=False),
    ),
    Fault("another turn's reasoning is shown", f"{_TURN}._interpret_frame", whoever_reasons),
    Fault(
        "any message.create is ours", f"{_BINDING}._is_ours", instead(ast.Compare, "True", nth=2)
    ),
    Fault(
        "one channel's turns block another's",
        f"{_OPEN_TURNS}.may_be_open_on",
        unasked(1, nth=2),
    ),
    Fault(
        "another turn's question of that id is closed for ours",
        "turnwire.dialects.v2.questions:OpenQuestions.question_closed",
        decided(ast.IfExp, outcome=True),
        _QUESTIONS,
    ),
    Fault(
        "an answer is matched by its question's id alone",
        f"{_TURN}._closes_our_question",
        instead(ast.Call, "True"),
        _QUESTIONS,
    ),
    Fault(
        "the questions that were open before us are not known",
        f"{_TURN}._note_other_turns",
        without(ast.For, 2),
        _QUESTIONS,
    ),
    Fault(
        "an early frame makes our turn another's",
        f"{_OPEN_TURNS}.may_be_open_on",
        unasked(2, nth=2),
        _EARLY,
    ),
    Fault(
        "a turn that was open before our prompt becomes ours",
        f"{_OPEN_TURNS}.may_be_open_on",
        unasked(2, nth=3),
        _EARLY,
    ),
    Fault(
        "across processes a turn that names nobody is ours",
        f"{_BINDING}._is_ours",
        decided(ast.If, outcome=False, nth=-1),
        _APART,
    ),
    Fault("a turn that was guessed is aborted", f"{_BINDING}.abort_scope", unasked(2), _APART),
    Fault(
        "a stop takes whichever turn runs",
        f"{_STOP}._init_received",
        instead(ast.IfExp, "True"),
        _OPERATIONS,
    ),
    Fault(
        "a stop before the hello was a stop",
        f"{_STOP}.connection_lost",
        decided(ast.If, outcome=True),
        _OPERATIONS,
    ),
    Fault("a closed question is answered", f"{_ANSWER}._is_waiting", always, _OPERATIONS),
    Fault(
        "an answer goes to a question of any channel",
        f"{_ANSWER}._init_received",
        instead(ast.Compare, "True", nth=2),
        _ANSWERS,
    ),
    Fault(
        "the verdict on any question of that id is ours",
        f"{_ANSWER}._closes_our_question",
        unasked(2, nth=2),
        _ANSWERS,
    ),
)
