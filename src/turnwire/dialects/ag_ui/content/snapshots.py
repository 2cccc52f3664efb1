"""What a snapshot of the conversation adds to a run: inputs and outcomes of its calls, never text.

Agents repeat the conversation, in words of their own: ids, spaces and texts may differ from what
was streamed. So of a snapshot nothing counts but what a call of this run still lacks. Messages
before the last one of the user belong to earlier turns, whose calls may have the same ids.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import MANY, VALUES_MAX, SomeId, Word
from turnwire.core.wire import json_text, lenient
from turnwire.core.wire.census import census

CENSUS_DEPTH: Final = 6
"""The event, its messages, a message, its calls, a call, its function."""


_MODEL_ANSWERED: Final = "on_chat_model_end"
_TOOL_ENDED: Final = "on_tool_end"
_MARKERS: Final = (b"on_chat_model_end", b"on_tool_end")

_USER: Final = "human"
"""The type of a user's message in the state of a graph."""

_FAILED: Final = "error"
"""The status of a tool that failed, in a graph. An adapter has nothing else to say as the error."""


class ToolOutcome(Struct, frozen=True):
    """The outcome of a call.

    `error` is the text of an error, empty if there is none but that of the content; None if the
    call succeeded.
    """

    message_id: str
    content: Raw
    error: str | None


class CallInTurn(Struct, frozen=True):
    """A call of the last turn of a snapshot, as far as it is told."""

    input: Raw | None
    outcome: ToolOutcome | None = None


class _Function(Struct, frozen=True):
    arguments: Raw = Raw()


class _Call(Struct, frozen=True):
    id: SomeId = ""
    function: _Function = _Function()
    args: Raw = Raw()
    """The input in the state of an agent that is a graph: JSON that is not a string."""


class _Message(Struct, frozen=True, rename="camel"):
    id: SomeId = ""
    role: Word = ""
    content: Raw = Raw()
    error: Raw = Raw()
    tool_call_id: SomeId = ""
    tool_calls: Raw = Raw()


class _StateMessage(Struct, frozen=True):
    """A message in the state of an agent that is a graph."""

    type: Raw = Raw()
    content: Raw = Raw()
    tool_calls: Raw = Raw()
    tool_call_id: Raw = Raw()
    status: Raw = Raw()


class _State(Struct, frozen=True):
    messages: Raw = Raw()


class _Answer(Struct, frozen=True):
    output: _StateMessage = _StateMessage()


class _GraphEvent(Struct, frozen=True):
    event: Word = ""
    data: _Answer = _Answer()


class _Unparsed(Struct, frozen=True):
    event: _GraphEvent = _GraphEvent()


_decode_list = msgspec.json.Decoder(Annotated[list[Raw], MANY]).decode
_decode_message = msgspec.json.Decoder(_Message).decode
_decode_state_message = msgspec.json.Decoder(_StateMessage).decode
_decode_state = msgspec.json.Decoder(_State).decode
_decode_unparsed = msgspec.json.Decoder(_Unparsed).decode
_decode_call = msgspec.json.Decoder(_Call).decode


class InGraph(Struct, frozen=True):
    """What a graph tells of its calls beside the events of the wire."""

    inputs: Mapping[str, Raw]
    failed: Mapping[str, Raw]
    """The calls whose results are failures, though the wire does not say so, and these results."""
    succeeded: Mapping[str, Raw] = {}
    """All other calls that have results, and these."""


NOTHING: Final = InGraph({}, {})


class Snapshot(Struct, frozen=True):
    """The last turn of a conversation."""

    calls: Mapping[str, CallInTurn]
    text_lengths: Mapping[str, int]
    """How many characters each message of the assistant has, by its id."""


def read(messages: Raw) -> Snapshot:
    """Read the messages of a snapshot. What cannot be decoded is left out.

    Raises:
        msgspec.ValidationError: it is no list.

    """
    calls: dict[str, CallInTurn] = {}
    text_lengths: dict[str, int] = {}
    for message in lenient.each(_decode_message, _decode_list(messages)):
        if message.role == "user":
            calls.clear()
            text_lengths.clear()
        text = safe_json.string(message.content)
        if message.role == "assistant" and message.id and text is not None:
            text_lengths[message.id] = len(text)
        for call in _calls_of(message.tool_calls):
            arguments = safe_json.string(call.function.arguments)
            calls[call.id] = CallInTurn(json_text.parsed(arguments) if arguments else None)
        if message.role == "tool" and message.tool_call_id:
            call_id = message.tool_call_id
            message_id = message.id or f"{call_id}:result"
            outcome = ToolOutcome(message_id, message.content, _error(message.error))
            known = calls.get(call_id)
            calls[call_id] = CallInTurn(None if known is None else known.input, outcome)
    return Snapshot(calls, text_lengths)


def in_state(snapshot: Raw) -> InGraph:
    """Return what a state tells that holds messages, as that of a graph does."""
    state = lenient.field(_decode_state, snapshot)
    messages = None if state is None else lenient.field(_decode_list, state.messages)
    return _in_messages(lenient.each(_decode_state_message, messages or ()))


def in_raw(frame: bytes) -> InGraph:
    """Return what an event of a graph tells: one of its model's answer, or of a tool's end."""
    if not any(marker in frame for marker in _MARKERS):
        return NOTHING
    try:
        event = _decode_unparsed(frame).event
    except (msgspec.DecodeError, RecursionError):
        return NOTHING
    if event.event not in {_MODEL_ANSWERED, _TOOL_ENDED}:
        return NOTHING
    return _in_messages([event.data.output])


def prepare(frame: bytes) -> Iterator[None]:
    """Count a long snapshot in short steps, before it is decoded.

    Raises:
        TooManyError: it has more values than a valid one.

    """
    yield from census(frame, CENSUS_DEPTH, VALUES_MAX)


def _in_messages(messages: Iterable[_StateMessage]) -> InGraph:
    inputs: dict[str, Raw] = {}
    failed: dict[str, Raw] = {}
    succeeded: dict[str, Raw] = {}
    for message in messages:
        if safe_json.string(message.type) == _USER:
            failed.clear()
            succeeded.clear()
        for call in _calls_of(message.tool_calls):
            failed.pop(call.id, None)  # that was an earlier call with its id
            succeeded.pop(call.id, None)
            if call.args:
                inputs[call.id] = call.args
        call_id = safe_json.short_string(message.tool_call_id) or ""
        if safe_json.string(message.status) == _FAILED:
            succeeded.pop(call_id, None)
            failed[call_id] = message.content
        elif call_id and message.content:
            failed.pop(call_id, None)
            succeeded[call_id] = message.content
    return InGraph(inputs, failed, succeeded)


def _error(error: Raw) -> str | None:
    text = safe_json.string(error)
    return "" if text == _FAILED else text


def _calls_of(raw: Raw) -> Iterator[_Call]:
    return lenient.each(_decode_call, lenient.field(_decode_list, raw) or ())
