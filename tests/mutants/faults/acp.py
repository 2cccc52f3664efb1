"""What an agent does not mean on the `acp` wire: sessions, permissions and ends taken wrongly."""

import ast
from typing import Final

from mutants.edit import decided, instead, unasked
from mutants.fault import Fault
from mutants.wrong import never, nothing, nothing_is_done

_WIRE: Final = "turnwire.dialects.acp"
_TURN: Final = f"{_WIRE}.turn:PromptProtocol"
_OPENING: Final = f"{_WIRE}.opening:Opening"

_TURN_TESTS: Final = ("dialects/acp/test_turn.py",)
_OPENING_TESTS: Final = ("dialects/acp/test_opening.py",)
_QUESTIONS: Final = ("dialects/acp/test_questions.py",)
_CALLS: Final = ("dialects/acp/test_calls.py",)

FAULTS: Final = (
    Fault(
        "the past of a session is shown",
        f"{_OPENING}.is_telling_past",
        never,
        ("dialects/acp/test_history.py",),
    ),
    Fault(
        "a session that tells no past is the one that was kept",
        f"{_OPENING}._continued",
        instead(ast.BoolOp, "False"),
        _OPENING_TESTS,
    ),
    Fault(
        "a session that is gone is no other one",
        f"{_OPENING}._continued",
        instead(ast.Tuple, "(_Stage.BEGINNING, False)", nth=2),
        _OPENING_TESTS,
    ),
    Fault(
        "every version of the protocol is ours",
        f"{_OPENING}._initialized",
        decided(ast.If, outcome=False),
        _OPENING_TESTS,
    ),
    Fault(
        "updates of another session are ours",
        f"{_TURN}._update",
        unasked(1, nth=2),
        _TURN_TESTS,
    ),
    Fault(
        "what follows a cancel is shown",
        f"{_TURN}._update",
        unasked(3, nth=2),
        _TURN_TESTS,
    ),
    Fault(
        "an agent that says end_turn of a cancelled turn ended it",
        f"{_TURN}._finish",
        unasked(1, nth=3),
        _TURN_TESTS,
    ),
    Fault(
        "a permission of another session is given",
        f"{_TURN}._ask",
        decided(ast.If, outcome=False),
        _QUESTIONS,
    ),
    Fault(
        "a cancel leaves permissions open",
        f"{_TURN}.abort",
        instead(ast.ListComp, "[]"),
        _QUESTIONS,
    ),
    Fault(
        "a request for a file is left without an answer",
        f"{_WIRE}.commands:refused",
        nothing_is_done,
        ("dialects/acp/test_commands.py",),
    ),
    Fault(
        "an answer that is none allows",
        f"{_WIRE}.questions:_rejecting",
        nothing_is_done,
        _QUESTIONS,
    ),
    Fault(
        "a yes allows whatever there is",
        f"{_WIRE}.questions:_of_kind",
        instead(ast.Compare, "True"),
        _QUESTIONS,
    ),
    Fault(
        "an option that was not offered is chosen",
        f"{_WIRE}.questions:chosen",
        instead(ast.IfExp, "option_id"),
        _QUESTIONS,
    ),
    Fault(
        "an input counts before its call runs",
        f"{_WIRE}.calls:Calls.take",
        instead(ast.Compare, "True", nth=6),
        _CALLS,
    ),
    Fault(
        "a failed call succeeded",
        f"{_WIRE}.calls:_over",
        instead(ast.IfExp, "Phase.COMPLETED"),
        _CALLS,
    ),
    Fault(
        "a plan is told anew each time",
        f"{_WIRE}.progress:Progress._chunk",
        nothing,
        ("dialects/acp/test_progress.py",),
    ),
    Fault(
        "a file that the agent does not take is left out",
        f"{_WIRE}.blocks:of_prompt",
        instead(ast.Return, "continue"),
        ("dialects/acp/test_blocks.py",),
    ),
)
