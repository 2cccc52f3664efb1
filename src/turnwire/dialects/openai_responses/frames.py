"""The events that an agent sends on the `openai-responses` wire, and how they are decoded.

One server-sent event is one frame: a JSON object with a `type`. Only fields that are read are
declared. `output_index` says which item an event is of. The ids of items say it only where a server
sends no index: some proxies send another id with each event.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias, Union

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import FEW, HandedOn
from turnwire.core.wire.decoder import FrameDecoder, known_frames
from turnwire.dialects.openai_responses import errors

SKIPPED: Final = (
    *("response.queued", "response.content_part.added", "response.content_part.done"),
    *("response.reasoning_summary_part.added", "response.reasoning_summary_part.done"),
    *("response.web_search_call.in_progress", "response.web_search_call.searching"),
    *("response.web_search_call.completed", "response.file_search_call.in_progress"),
    *("response.file_search_call.searching", "response.file_search_call.completed"),
    *("response.code_interpreter_call.in_progress", "response.code_interpreter_call.interpreting"),
    *("response.code_interpreter_call.completed", "response.image_generation_call.in_progress"),
    *("response.image_generation_call.generating", "response.image_generation_call.completed"),
    *("response.mcp_call.in_progress", "response.mcp_call.completed", "response.mcp_call.failed"),
    *("response.mcp_list_tools.in_progress", "response.mcp_list_tools.completed"),
    *("response.mcp_list_tools.failed", "response.audio.done", "response.audio.transcript.done"),
)
"""Types of events that only say again what the item or its deltas say."""


class _Frame(Struct, frozen=True, tag_field="type"):
    """Base of all events. It declares only fields that are read; an absent `Raw` is empty."""


class Created(_Frame, frozen=True, tag="response.created"):
    response: Raw = Raw()


class InProgress(_Frame, frozen=True, tag="response.in_progress"):
    pass


class ItemAdded(_Frame, frozen=True, tag="response.output_item.added"):
    item: Raw
    output_index: int = -1


class ItemDone(_Frame, frozen=True, tag="response.output_item.done"):
    item: Raw
    output_index: int = -1


# `gc=False`: this one comes by the hundred thousand, and cannot be part of a cycle.


class TextDelta(_Frame, frozen=True, gc=False, tag="response.output_text.delta"):
    delta: HandedOn
    output_index: int = -1
    content_index: int = 0
    item_id: HandedOn = ""


class TextDone(_Frame, frozen=True, tag="response.output_text.done"):
    text: HandedOn
    output_index: int = -1
    content_index: int = 0
    item_id: HandedOn = ""


class AnnotationAdded(_Frame, frozen=True, tag="response.output_text.annotation.added"):
    annotation: Raw


class RefusalDelta(_Frame, frozen=True, tag="response.refusal.delta"):
    delta: HandedOn
    output_index: int = -1
    content_index: int = 0
    item_id: HandedOn = ""


class RefusalDone(_Frame, frozen=True, tag="response.refusal.done"):
    refusal: HandedOn
    output_index: int = -1
    content_index: int = 0
    item_id: HandedOn = ""


class SummaryDelta(_Frame, frozen=True, gc=False, tag="response.reasoning_summary_text.delta"):
    delta: HandedOn
    output_index: int = -1
    summary_index: int = 0
    item_id: HandedOn = ""


class SummaryDone(_Frame, frozen=True, tag="response.reasoning_summary_text.done"):
    text: HandedOn
    output_index: int = -1
    summary_index: int = 0
    item_id: HandedOn = ""


class ReasoningDelta(_Frame, frozen=True, gc=False, tag="response.reasoning_text.delta"):
    delta: HandedOn
    output_index: int = -1
    content_index: int = 0
    item_id: HandedOn = ""


class ReasoningDone(_Frame, frozen=True, tag="response.reasoning_text.done"):
    text: HandedOn
    output_index: int = -1
    content_index: int = 0
    item_id: HandedOn = ""


class ArgumentsDelta(_Frame, frozen=True, gc=False, tag="response.function_call_arguments.delta"):
    delta: HandedOn
    output_index: int = -1
    item_id: HandedOn = ""


class ArgumentsDone(_Frame, frozen=True, tag="response.function_call_arguments.done"):
    arguments: HandedOn
    output_index: int = -1
    item_id: HandedOn = ""


class McpArgumentsDelta(_Frame, frozen=True, tag="response.mcp_call_arguments.delta"):
    delta: HandedOn
    output_index: int = -1
    item_id: HandedOn = ""


class McpArgumentsDone(_Frame, frozen=True, tag="response.mcp_call_arguments.done"):
    arguments: HandedOn
    output_index: int = -1
    item_id: HandedOn = ""


class InputDelta(_Frame, frozen=True, tag="response.custom_tool_call_input.delta"):
    delta: HandedOn
    output_index: int = -1
    item_id: HandedOn = ""


class InputDone(_Frame, frozen=True, tag="response.custom_tool_call_input.done"):
    input: HandedOn
    output_index: int = -1
    item_id: HandedOn = ""


class CodeDelta(_Frame, frozen=True, tag="response.code_interpreter_call_code.delta"):
    """The item has the whole code in the end, as the input of its call."""


class CodeDone(_Frame, frozen=True, tag="response.code_interpreter_call_code.done"):
    pass


class PartialImage(_Frame, frozen=True, tag="response.image_generation_call.partial_image"):
    pass


class AudioDelta(_Frame, frozen=True, tag="response.audio.delta"):
    pass


class TranscriptDelta(_Frame, frozen=True, tag="response.audio.transcript.delta"):
    pass


class KeepAlive(_Frame, frozen=True, tag="keepalive"):
    """The server lives. The agent may not."""


class Completed(_Frame, frozen=True, tag="response.completed"):
    """The end of a response. No field is checked: a wrong one must not hide the end."""

    response: Raw = Raw()


class Incomplete(_Frame, frozen=True, tag="response.incomplete"):
    response: Raw = Raw()


class Failed(_Frame, frozen=True, tag="response.failed"):
    response: Raw = Raw()


class Cancelled(_Frame, frozen=True, tag="response.cancelled"):
    response: Raw = Raw()


class Failure(_Frame, frozen=True, tag="error"):
    """An error. Some servers send its fields in an object, without a type."""

    message: Raw = Raw()
    code: Raw = Raw()
    error: Raw = Raw()


class Skipped(_Frame, frozen=True):
    """Base of the events in `SKIPPED`: only their type is decoded."""


Unshown: TypeAlias = PartialImage | AudioDelta | TranscriptDelta
"""What is understood, and not shown."""

InputPiece: TypeAlias = ArgumentsDelta | McpArgumentsDelta | InputDelta
"""A piece of a call's input."""

WholeInput: TypeAlias = ArgumentsDone | McpArgumentsDone | InputDone

Content: TypeAlias = (
    TextDelta
    | TextDone
    | AnnotationAdded
    | RefusalDelta
    | RefusalDone
    | SummaryDelta
    | SummaryDone
    | ReasoningDelta
    | ReasoningDone
    | InputPiece
    | WholeInput
    | ItemAdded
    | ItemDone
    | CodeDelta
    | CodeDone
    | Unshown
)
"""Events that tell something of the answer."""

End: TypeAlias = Completed | Incomplete | Failed | Cancelled

Read: TypeAlias = Created | InProgress | Content | End | Failure | KeepAlive | Skipped
"""A decoded event."""

KNOWN = known_frames(Read.__args__, Skipped, SKIPPED)
"""The structs of all types of events, the skipped ones included."""


class _Bare(Struct, frozen=True):
    """An event without a type."""

    type: Raw = Raw()
    error: Raw = Raw()


_PLACES: Final = ("output_index", "content_index", "summary_index", "item_id")
"""Fields that say where an event belongs. One of a wrong type is as good as none."""

_DIGITS: Final = re.compile(rb'"(\d{1,6})"')

_decode: Callable[[bytes], Read] = msgspec.json.Decoder(Union[KNOWN]).decode  # noqa: UP007 (built at run time)
_decode_bare = msgspec.json.Decoder(_Bare).decode
_decode_fields = msgspec.json.Decoder(Annotated[dict[HandedOn, Raw], FEW]).decode


def decode(raw: bytes) -> Read:
    """Decode an event.

    Raises:
        msgspec.DecodeError: it is no strict JSON, or nothing known.

    """
    try:
        return _decode(raw)
    except msgspec.ValidationError:
        if not raw.startswith(b"{"):
            raise
        if error := bare_error(raw):
            return Failure(error=error)
        return _decode(_without_wrong_places(raw))


def bare_error(raw: bytes) -> Raw | None:
    """Return the error of an event that has no type; None if it has a type, or no error."""
    bare = _decode_bare(raw)
    return bare.error if not bare.type and errors.is_error(bare.error) else None


def _without_wrong_places(raw: bytes) -> bytes:
    """Return an event without the fields that say in a wrong type where it belongs."""
    fields = _decode_fields(raw)
    for name in _PLACES:
        value = bytes(fields.get(name, b"0"))
        if name == "item_id":
            is_right = value.startswith(b'"')
        elif digits := _DIGITS.fullmatch(value):
            fields[name], is_right = Raw(digits[1]), True
        else:
            is_right = value.isdigit()
        if not is_right:
            fields.pop(name, None)
    return msgspec.json.encode(fields)


Delta: TypeAlias = TextDelta | SummaryDelta | ReasoningDelta | RefusalDelta | InputPiece
"""A piece of a text or of an input."""


def _restore_halves(frame: Read, loose: Any) -> Read:
    """The event with the half of a surrogate pair that its delta begins or ends with."""
    if isinstance(frame, Delta):
        return msgspec.structs.replace(frame, delta=loose["delta"])
    return frame


decoder = FrameDecoder[Read](decode, KNOWN, _restore_halves)
