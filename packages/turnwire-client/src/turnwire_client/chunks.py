"""The chunks of the wire: those that are events, and those that only build the message.

A chunk of an unknown type is None: a newer gateway may send it. One of a known type with wrong
fields is an error, as it is for every released client.
"""

from typing import Any, Final, TypeAlias, get_args

import msgspec
from msgspec import Struct

from turnwire_client import events
from turnwire_client.errors import MalformedError
from turnwire_client.events import Data, Question, ToolApprovalRequest

DATA: Final = "data-"
DONE: Final = b"[DONE]"


class Start(Struct, frozen=True, tag_field="type", tag="start", rename="camel"):
    message_id: str | None = None
    message_metadata: Any = None


class ResetStep(Struct, frozen=True, tag_field="type", tag="reset-step"):
    """The parts of the step are taken back, in the profile `7.1`."""


class TextStart(Struct, frozen=True, tag_field="type", tag="text-start"):
    id: str


class TextEnd(Struct, frozen=True, tag_field="type", tag="text-end"):
    id: str


class ReasoningStart(Struct, frozen=True, tag_field="type", tag="reasoning-start"):
    id: str


class ReasoningEnd(Struct, frozen=True, tag_field="type", tag="reasoning-end"):
    id: str


class ApprovalRequest(
    Struct, frozen=True, tag_field="type", tag="tool-approval-request", rename="camel"
):
    """A call waits for its approval, in a profile with native approvals."""

    approval_id: str
    tool_call_id: str


Known: TypeAlias = (
    Start
    | ResetStep
    | ApprovalRequest
    | TextStart
    | TextEnd
    | ReasoningStart
    | ReasoningEnd
    | events.StartStep
    | events.FinishStep
    | events.TextDelta
    | events.ReasoningDelta
    | events.ToolInputStart
    | events.ToolInputDelta
    | events.ToolInputAvailable
    | events.ToolOutputAvailable
    | events.ToolOutputError
    | events.File
    | events.SourceUrl
    | events.Finish
    | events.Abort
    | events.Error
)
Chunk: TypeAlias = Known | Data


class _Named(Struct):
    type: str


class _Data(Struct):
    type: str
    data: Any = None
    id: str | None = None
    transient: bool = False


class _Asked(Struct, rename="camel"):
    """The fields of a `data-question` that have a meaning here."""

    text: str = ""
    state: str = "open"
    options: list[str] = []
    kind: str | None = None
    prompt_type: str | None = None
    approval_id: str | None = None
    call_id: str | None = None
    tool_name: str | None = None
    args: Any = None


_named = msgspec.json.Decoder(_Named).decode
_known = msgspec.json.Decoder(Known).decode
_data = msgspec.json.Decoder(_Data).decode
# For `convert`: a `Struct` that two threads read for the first time at once ends the process.
msgspec.json.Decoder(_Asked)
_TYPES: Final = {each.__struct_config__.tag for each in get_args(Known)}


def read_chunk(data: bytes) -> Chunk | None:
    """Read the data of one event.

    Raises:
        MalformedError: it is no chunk.

    """
    try:
        kind = _named(data).type
        if kind.startswith(DATA):
            part = _data(data)
            return Data(kind.removeprefix(DATA), part.data, part.id, part.transient)
        if kind not in _TYPES:
            return None
        known: Chunk = _known(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # The chunk itself may have what the user wrote, so no error has it.
        raise MalformedError("an event of the stream is no chunk of a UI message stream") from None
    return known


def is_approval(part: Data) -> bool:
    """Whether a data part is an approval, in whatever state."""
    fields = part.data if isinstance(part.data, dict) else {}
    return part.name == "question" and "approval" in (fields.get("kind"), fields.get("promptType"))


def read_question(part: Data) -> Question | ToolApprovalRequest | None:
    """What a data part asks of the user. None: it is no question."""
    if part.name != "question" or part.id is None:
        return None
    try:
        asked = msgspec.convert(part.data, _Asked)
    except msgspec.ValidationError:
        return None  # of another shape: the app gets it as data
    if "approval" in {asked.kind, asked.prompt_type} and asked.state == "open":
        return ToolApprovalRequest(
            part.id,
            asked.approval_id,
            asked.call_id,
            asked.tool_name,
            asked.args,
            asked.text,
        )
    return Question(part.id, asked.text, asked.state, tuple(asked.options), part.data)
