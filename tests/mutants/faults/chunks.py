"""Chunks that are missing or wrong: the translator, its tool calls, and how they are written."""

import ast
from typing import Any, Final

from mutants.edit import decided, unasked, without
from mutants.fault import Fault, Function
from mutants.wrong import nothing, nothing_is_done
from turnwire.core.events import Phase, ToolUpdate
from turnwire.core.safe_json import join_surrogates
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.sse import DONE
from turnwire.core.ui_stream.tool_calls import Calls
from turnwire.core.ui_stream.translator import Translator


def the_block_stays_open(_between_blocks: Function) -> Function:
    def wrong(_self: Translator, parts: list[Chunk]) -> list[Chunk]:
        return parts

    return wrong


def it_is_open_again(end: Function) -> Function:
    def wrong(*args: Any) -> Any:
        translator: Translator = args[0]
        state = translator.state
        parts = end(*args)
        translator.state = state
        return parts

    return wrong


def all_but_a_running_one(is_new_call: Function) -> Function:
    def wrong(self: Calls, call: Any, phase: Phase) -> bool:
        return phase is not Phase.RUNNING or is_new_call(self, call, phase)

    return wrong


def shown_by_the_id_of_the_agent(begin: Function) -> Function:
    def wrong(self: Calls, event: ToolUpdate) -> Any:
        call = begin(self, event)
        call.shown_id = join_surrogates(event.call_id)
        return call

    return wrong


def nothing_follows(record: Function) -> Function:
    def wrong(chunk: Chunk, *, event_line: bool = True) -> bytes:
        written: bytes = record(chunk, event_line=event_line)
        return written.removesuffix(DONE)

    return wrong


def its_name_is_put_back(dump: Function) -> Function:
    def wrong(value: Any) -> bytes:
        written: bytes = dump(value)
        return written.replace(b'"_proto_"', b'"__proto__"')

    return wrong


_TRANSLATOR: Final = "turnwire.core.ui_stream.translator:Translator"
_CALLS: Final = "turnwire.core.ui_stream.tool_calls:Calls"

FAULTS: Final = (
    Fault(
        "a tool leaves the text before it open",
        f"{_TRANSLATOR}._between_blocks",
        the_block_stays_open,
    ),
    Fault("the turn ends over an open block", f"{_TRANSLATOR}._end", without(ast.Starred)),
    Fault("open tools get no outcome at the end", f"{_CALLS}.settle", nothing),
    Fault("block ids are used twice", f"{_TRANSLATOR}._open_block", without(ast.AugAssign, -1)),
    Fault("a step ends while a tool runs", f"{_TRANSLATOR}._open_block", unasked(2)),
    Fault("a half of a pair is dropped", f"{_TRANSLATOR}._write", without(ast.Assign, 3)),
    Fault("a closed translator still speaks", f"{_TRANSLATOR}._end", it_is_open_again),
    Fault(
        "open questions are forgotten",
        "turnwire.core.ui_stream.questions:Questions.expire",
        nothing,
    ),
    Fault(
        "the half that waits is told twice at the end",
        f"{_TRANSLATOR}._write_unsent",
        without(ast.If),
    ),
    Fault("a repeated outcome is sent again", f"{_CALLS}._is_new_call", all_but_a_running_one),
    Fault("an outcome comes without its input", f"{_CALLS}._advance", without(ast.Starred, 2)),
    Fault(
        "a preliminary output comes without its input", f"{_CALLS}._advance", without(ast.Starred)
    ),
    Fault("a piece comes after the whole input", f"{_CALLS}.add_input", unasked(2)),
    Fault(
        "pieces of inputs are kept without a limit",
        f"{_CALLS}._append",
        decided(ast.If, outcome=False, nth=3),
    ),
    Fault("a call of an earlier response gets pieces", f"{_CALLS}.stop_deltas", nothing_is_done),
    Fault(
        "a client that refuses preliminary outputs gets them",
        f"{_TRANSLATOR}._tool",
        unasked(1),
    ),
    Fault(
        "a preliminary output hides the request for an approval",
        f"{_TRANSLATOR}._tool",
        unasked(2),
    ),
    Fault(
        "an agent sends data under a name of the gateway's",
        "turnwire.core.ui_stream.data_parts:part_chunks",
        unasked(1),
    ),
    Fault("a reused call id is not told apart", f"{_CALLS}._begin", shown_by_the_id_of_the_agent),
    Fault(
        "finish is not followed by [DONE]", "turnwire.core.ui_stream.sse:record", nothing_follows
    ),
    Fault(
        "line separators go out raw",
        "turnwire.core.ui_stream.sse:record",
        decided(ast.If, outcome=False),
    ),
    Fault(
        "line separators of a delta in a row go out raw",
        "turnwire.core.ui_stream.sse:deltas",
        decided(ast.IfExp, outcome=True),
    ),
    Fault("a key __proto__ goes out", "turnwire.core.safe_json:dump", its_name_is_put_back),
)
