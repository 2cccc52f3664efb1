"""What an agent does not mean on the `ui-stream` wire: ends, calls and approvals taken wrongly."""

import ast
from typing import Final

from mutants.edit import decided, instead, unasked
from mutants.fault import Fault
from mutants.wrong import nothing, nothing_is_done

_WIRE: Final = "turnwire.dialects.ui_stream"
_TURN: Final = f"{_WIRE}.turn:TurnProtocol"
_PROGRESS: Final = f"{_WIRE}.progress:Progress"
_BLOCKS: Final = "turnwire.core.wire.open_blocks:OpenBlocks"

_TURN_TESTS: Final = ("dialects/ui_stream/test_turn.py",)
_PROGRESS_TESTS: Final = ("dialects/ui_stream/test_progress.py",)
_BLOCKS_TESTS: Final = (*_PROGRESS_TESTS, "core/wire/test_open_blocks.py")
_MESSAGES: Final = ("dialects/ui_stream/test_messages.py",)
_CONTINUATION: Final = ("dialects/ui_stream/test_continuation.py",)

FAULTS: Final = (
    Fault(
        "the end of the body is noise",
        f"{_TURN}._receive_other",
        decided(ast.If, outcome=False),
        _TURN_TESTS,
    ),
    Fault(
        "what is behind an end counts",
        f"{_TURN}._interpret",
        decided(ast.If, outcome=False),
        _TURN_TESTS,
    ),
    Fault(
        "a response that asks is over",
        f"{_TURN}._end",
        decided(ast.If, outcome=True, nth=2),
        _TURN_TESTS,
    ),
    Fault(
        "an approval of nothing is lost in silence",
        f"{_TURN}._end",
        decided(ast.If, outcome=False, nth=3),
        _TURN_TESTS,
    ),
    Fault(
        "a call beside an approval stays open",
        f"{_TURN}._end",
        decided(ast.If, outcome=False, nth=4),
        _TURN_TESTS,
    ),
    Fault(
        "the next response begins before all answers are there",
        f"{_TURN}.reply",
        decided(ast.If, outcome=False, nth=2),
        _TURN_TESTS,
    ),
    Fault(
        "a response that waits is cut",
        f"{_TURN}.connection_lost",
        instead(ast.IfExp, "None"),
        _TURN_TESTS,
    ),
    Fault(
        "an approval that the agent decided is asked",
        f"{_PROGRESS}._output",
        instead(ast.Expr, "None"),
        _TURN_TESTS,
    ),
    Fault(
        "an approval that the agent decides is asked",
        f"{_PROGRESS}._ask",
        decided(ast.If, outcome=False),
        _PROGRESS_TESTS,
    ),
    Fault(
        "an approval without ids is lost in silence",
        f"{_PROGRESS}._ask",
        decided(ast.If, outcome=False, nth=3),
        _TURN_TESTS,
    ),
    Fault(
        "a source that no client is sent is lost in silence",
        f"{_PROGRESS}._shown",
        decided(ast.If, outcome=False),
        _PROGRESS_TESTS,
    ),
    Fault(
        "what is kept of a turn takes nothing but its text",
        f"{_WIRE}.transcript:Transcript._add",
        instead(ast.BinOp, "0"),
        ("dialects/ui_stream/test_transcript.py",),
    ),
    Fault(
        "an agent writes a part of the gateway",
        f"{_PROGRESS}.data",
        unasked(1),
        _TURN_TESTS,
    ),
    Fault("two texts are one block", f"{_BLOCKS}.write", nothing, _BLOCKS_TESTS),
    Fault("a text never ends", f"{_BLOCKS}.end", nothing, _BLOCKS_TESTS),
    Fault(
        "pieces of an input are no input",
        f"{_WIRE}.calls:Calls.joined_input",
        nothing_is_done,
        ("dialects/ui_stream/test_calls.py",),
    ),
    Fault(
        "steps are messages",
        f"{_WIRE}.messages:_Joining._begin_step",
        decided(ast.If, outcome=True),
        _MESSAGES,
    ),
    Fault(
        "a call without a result stays open",
        f"{_WIRE}.messages:_Joining._end_call",
        nothing_is_done,
        _MESSAGES,
    ),
    Fault(
        "any approval answers any call of the message",
        f"{_WIRE}.continuation:_pending_call",
        unasked(2),
        _CONTINUATION,
    ),
    Fault(
        "a question without a call is an approval",
        f"{_WIRE}.continuation:_call_of",
        instead(ast.BoolOp, "question is None"),
        _CONTINUATION,
    ),
    Fault(
        "every answer is a yes",
        f"{_WIRE}.approvals:_verdict",
        instead(ast.Compare, "True", nth=2),
        ("dialects/ui_stream/test_approvals.py",),
    ),
    Fault(
        "a long response goes on without its beginning",
        f"{_TURN}._next_response",
        decided(ast.If, outcome=False),
        _TURN_TESTS,
    ),
    Fault(
        "a finish that says error is a success",
        f"{_TURN}._end",
        decided(ast.If, outcome=False),
        _TURN_TESTS,
    ),
    Fault(
        "a continued turn begins anew",
        f"{_WIRE}.continuation:ContinuationProtocol.connection_opened",
        nothing_is_done,
        _CONTINUATION,
    ),
    Fault(
        "a long input is remembered",
        f"{_WIRE}.calls:Calls.input",
        decided(ast.If, outcome=True),
        ("dialects/ui_stream/test_calls.py",),
    ),
)
