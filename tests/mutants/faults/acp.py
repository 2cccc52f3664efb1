"""What an agent does not mean on the `acp` wire: sessions, permissions and ends taken wrongly."""

import ast
from typing import Final

from mutants.edit import decided, instead, unasked
from mutants.fault import Fault
from mutants.wrong import never, nothing, nothing_is_done

_WIRE: Final = "turnwire.dialects.acp"
_TURN: Final = f"{_WIRE}.turn:PromptProtocol"
_PERMISSIONS: Final = f"{_WIRE}.permissions:Permissions"
_OPENING: Final = f"{_WIRE}.opening:Opening"

_TURN_TESTS: Final = ("dialects/acp/test_turn.py",)
_OPENING_TESTS: Final = ("dialects/acp/test_opening.py",)
_QUESTIONS: Final = ("dialects/acp/test_questions.py",)
_PERMISSION_TESTS: Final = ("dialects/acp/test_permissions.py",)
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
        instead(ast.Assign, "pass", nth=-1),
        _OPENING_TESTS,
    ),
    Fault(
        "a session whose agent is busy is gone",
        f"{_OPENING}._continued",
        unasked(2, nth=-2),
        _OPENING_TESTS,
    ),
    Fault(
        "whatever an agent tells before a session is open is its past",
        f"{_OPENING}.note_past",
        instead(ast.Call, "True"),
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
        decided(ast.If, outcome=False, nth=-1),
        _PERMISSION_TESTS,
    ),
    Fault(
        "a cancel leaves permissions open",
        f"{_PERMISSIONS}.cancel",
        instead(ast.ListComp, "[]"),
        _PERMISSION_TESTS,
    ),
    Fault(
        "a permission that cannot be shown is left without an answer",
        f"{_PERMISSIONS}.refuse",
        instead(ast.List, "[]", nth=-1),
        _PERMISSION_TESTS,
    ),
    Fault(
        "a question is asked that nobody can answer",
        f"{_PERMISSIONS}.ask",
        decided(ast.If, outcome=False, nth=2),
        _PERMISSION_TESTS,
    ),
    Fault(
        "what is too long to be shown is allowed",
        f"{_WIRE}.calls:Calls.ask",
        decided(ast.IfExp, outcome=True),
        _PERMISSION_TESTS,
    ),
    Fault(
        "the change of a file is not shown",
        f"{_WIRE}.calls:Calls._keep_shown",
        nothing_is_done,
        _QUESTIONS,
    ),
    Fault(
        "a no allows, if an option that allows is named",
        f"{_WIRE}.questions:chosen",
        decided(ast.If, outcome=False),
        _QUESTIONS,
    ),
    Fault(
        "an update behind the end of a call begins another one",
        f"{_WIRE}.calls:Calls.take",
        decided(ast.If, outcome=False, nth=2),
        _CALLS,
    ),
    Fault(
        "a chat whose agent failed is an empty one",
        f"{_WIRE}.history:HistoryOperation._failed",
        decided(ast.If, outcome=True),
        ("dialects/acp/test_history.py",),
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
