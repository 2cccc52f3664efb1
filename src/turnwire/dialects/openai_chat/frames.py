"""The events that an agent sends on the `openai-chat` wire, and how they are decoded.

One server-sent event is one frame: a JSON object without a type of its own. So its fields say what
it is: `choices` make it a chunk, `toolCallId` and `status` an agent's note about a tool that runs
(`hermes.tool.progress`), `error` a failure. The name of an event is not read: recordings have none.
The end of all events is no JSON: `DONE`.

Servers differ in nearly every field of a chunk. So most fields are `Raw` or take any value, and a
wrong one hides no other.
"""

from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import MANY, HandedOn, SomeId, Word
from turnwire.core.wire.decoder import FrameDecoder
from turnwire.core.wire.event_stream import NamedEvent
from turnwire.core.wire.schema import ODD

DONE: Final = b"[DONE]"
"""The event behind the last one."""

_Odd: TypeAlias = HandedOn | int | float | bool | Annotated[dict[HandedOn, Raw], MANY]
"""Any value but null and a list, for the fields of the short way (`Progress.plain_text`): a `Raw`
there would have to be compared with null, in each delta."""

_KIND: Final = "(kind)"
"""Where a struct has its type, for the schema. No frame has such a field."""


class Function(Struct, frozen=True):
    """The call of a function, or a piece of it. `arguments` is JSON in a string."""

    name: Raw = Raw()
    arguments: Raw = Raw()


class Custom(Struct, frozen=True):
    """The call of a tool whose input is a text."""

    name: Raw = Raw()
    input: Raw = Raw()


class ToolCall(Struct, frozen=True):
    """A piece of a call. The first one has its id and its name, on most servers."""

    index: Raw = Raw()
    id: Raw = Raw()
    function: Function | None = None
    custom: Custom | None = None


class Delta(Struct, frozen=True, gc=False):
    """What a chunk adds to the answer; of the role `tool`, the output of a call."""

    role: _Odd | Annotated[list[Raw], MANY] | None = None
    tool_call_id: Raw = Raw()
    content: HandedOn | Annotated[list[Raw], MANY] | None = None
    reasoning_content: Raw = Raw()
    reasoning: Raw = Raw()
    refusal: Raw = Raw()
    tool_calls: Annotated[list[ToolCall], MANY] | _Odd | None = None
    function_call: Function | None = None
    annotations: Raw = Raw()
    images: Raw = Raw()
    audio: Raw = Raw()
    reasoning_details: Raw = Raw()


class Choice(Struct, frozen=True, gc=False):
    index: _Odd | Annotated[list[Raw], MANY] | None = None
    delta: Delta | None = None
    message: Delta | None = None
    """A whole answer, in the place of its pieces."""
    finish_reason: _Odd | Annotated[list[Raw], MANY] | None = None
    error: Raw = Raw()
    logprobs: Raw = Raw()


class Groq(Struct, frozen=True):
    usage: Raw = Raw()


class Chunk(Struct, frozen=True, gc=False, tag_field=_KIND, tag="chunk"):
    """A piece of the answer. None of its `choices` may be there: then it has the usage."""

    choices: Annotated[list[Choice], MANY] | None = None
    usage: Raw = Raw()
    error: Raw = Raw()
    citations: Raw = Raw()
    x_groq: Groq | None = None


class ToolProgress(
    Struct, frozen=True, tag_field=_KIND, tag="progress", rename="camel", kw_only=True
):
    """An agent says that one of its tools runs, or is done."""

    tool_call_id: HandedOn
    status: Word
    tool: SomeId | None = None
    label: HandedOn | None = None
    error: Raw = Raw()


class Failure(Struct, frozen=True, tag_field=_KIND, tag="error"):
    """The turn failed. Some servers have the fields of the error in the frame itself."""

    error: Raw = Raw()
    message: Raw = Raw()
    code: Raw = Raw()


class _Head(Struct, frozen=True, rename="camel"):
    """What tells the kinds of frames from each other."""

    choices: Raw = Raw()
    usage: Raw = Raw()
    x_groq: Raw = msgspec.field(default=Raw(), name="x_groq")
    tool_call_id: Raw = Raw()
    status: Raw = Raw()
    error: Raw = Raw()
    type: Raw = Raw()
    object: Raw = Raw()


Read: TypeAlias = Chunk | ToolProgress | Failure
"""A decoded frame."""

KNOWN: Final = (Chunk, ToolProgress, Failure)

_NULL: Final = frozenset({b"", b"null"})
_NO_ERRORS: Final = _NULL | {b'""', b"{}", b"[]", b"false"}
_ERROR: Final = b'"error"'

_decode_chunk = msgspec.json.Decoder(Chunk).decode
_decode_progress = msgspec.json.Decoder(ToolProgress).decode
_decode_failure = msgspec.json.Decoder(Failure).decode
_decode_head = msgspec.json.Decoder(_Head).decode


def is_set(raw: Raw) -> bool:
    """Whether a field is there, and is not null."""
    return bytes(raw) not in _NULL


def is_error(raw: Raw) -> bool:
    """Whether the error of a chunk is one. Some servers send an empty one beside good content."""
    return bytes(raw) not in _NO_ERRORS


def is_other(choice: Choice) -> bool:
    """Whether it is a choice beside the first one. An index of a wrong type is none."""
    index = choice.index
    return isinstance(index, int | float | str) and index not in {0, "", "0"}


def error_of(chunk: Chunk) -> Raw | None:
    """Return the error of a chunk, or of its first choice; None if there is none."""
    errors = [choice.error for choice in chunk.choices or () if not is_other(choice)]
    return next(filter(is_error, (chunk.error, *errors)), None)


def type_of(raw: bytes) -> str:
    """Return what a frame is; the name of its event if it is nothing known, empty if no object."""
    try:
        head = _decode_head(raw)
    except (msgspec.DecodeError, RecursionError):
        return ""
    if is_set(head.choices):
        return "chunk"
    if is_set(head.tool_call_id) and is_set(head.status):
        return "progress"
    if is_set(head.error) or _ERROR in {bytes(head.type), bytes(head.object)}:
        return "error"
    if is_set(head.usage) or is_set(head.x_groq):
        return "chunk"
    return (raw.name if isinstance(raw, NamedEvent) else "") or ODD


def decode(raw: bytes) -> Read:
    """Decode a frame.

    Raises:
        msgspec.DecodeError: it is no strict JSON, or nothing known.

    """
    chunk = _decode_chunk(raw)
    if chunk.choices is not None:
        return chunk
    match type_of(raw):
        case "progress":
            return _decode_progress(raw)
        case "error":
            return _decode_failure(raw)
        case "chunk":
            return chunk
        case kind:
            raise msgspec.ValidationError(kind)


def _restore_halves(frame: Read, loose: Any) -> Read:
    """The chunk with the half of a surrogate pair that its text begins or ends with."""
    if not isinstance(frame, Chunk):
        return frame
    choices = [
        _with_half(choice, given)
        for choice, given in zip(frame.choices or (), loose.get("choices") or (), strict=True)
    ]
    return msgspec.structs.replace(frame, choices=choices)


def _with_half(choice: Choice, given: Any) -> Choice:
    """Return a choice with the text that it was `given`, as `safe_json.parse` returns it."""
    delta = choice.delta
    if delta is None or not isinstance(delta.content, str):
        return choice
    delta = msgspec.structs.replace(delta, content=given["delta"]["content"])
    return msgspec.structs.replace(choice, delta=delta)


decoder = FrameDecoder[Read](decode, KNOWN, _restore_halves, type_of=type_of)
