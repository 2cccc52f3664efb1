"""The chunks of a UI message stream, as they are read.

Fields that are not named here are passed over, so that a newer gateway is read too; a type that
nobody knows is an error, as it is in every released client.
"""

from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from turnwire_lab.client.errors import Malformed
from turnwire_lab.client.question import Question, question

DATA: Final = "data-"
_SHOWN: Final = 80


class _Chunk(Struct, frozen=True, tag_field="type", rename="camel"):
    """Base of the chunks whose type is fixed."""


class Start(_Chunk, frozen=True, tag="start"):
    message_id: str | None = None
    message_metadata: Any = None


class StartStep(_Chunk, frozen=True, tag="start-step"):
    pass


class FinishStep(_Chunk, frozen=True, tag="finish-step"):
    pass


class Finish(_Chunk, frozen=True, tag="finish"):
    message_metadata: Any = None


class Abort(_Chunk, frozen=True, tag="abort"):
    pass


class Error(_Chunk, frozen=True, tag="error"):
    error_text: str


class Metadata(_Chunk, frozen=True, tag="message-metadata"):
    message_metadata: Any


class TextStart(_Chunk, frozen=True, tag="text-start"):
    id: str


class TextDelta(_Chunk, frozen=True, tag="text-delta"):
    id: str
    delta: str


class TextEnd(_Chunk, frozen=True, tag="text-end"):
    id: str


class ReasoningStart(_Chunk, frozen=True, tag="reasoning-start"):
    id: str


class ReasoningDelta(_Chunk, frozen=True, tag="reasoning-delta"):
    id: str
    delta: str


class ReasoningEnd(_Chunk, frozen=True, tag="reasoning-end"):
    id: str


class ToolInputStart(_Chunk, frozen=True, tag="tool-input-start"):
    tool_call_id: str
    tool_name: str


class ToolInputDelta(_Chunk, frozen=True, tag="tool-input-delta"):
    tool_call_id: str
    input_text_delta: str


class ToolInputAvailable(_Chunk, frozen=True, tag="tool-input-available"):
    tool_call_id: str
    tool_name: str
    input: Any


class ToolApprovalRequest(_Chunk, frozen=True, tag="tool-approval-request"):
    tool_call_id: str
    approval_id: str


class ToolOutputAvailable(_Chunk, frozen=True, tag="tool-output-available"):
    tool_call_id: str
    output: Any
    preliminary: bool = False


class ToolOutputError(_Chunk, frozen=True, tag="tool-output-error"):
    tool_call_id: str
    error_text: str


class ToolOutputDenied(_Chunk, frozen=True, tag="tool-output-denied"):
    tool_call_id: str


class File(_Chunk, frozen=True, tag="file"):
    url: str
    media_type: str


class SourceUrl(_Chunk, frozen=True, tag="source-url"):
    source_id: str
    url: str
    title: str | None = None


class AgentStatus(Struct, frozen=True):
    """What the agent is doing; never part of the message."""

    status: str
    detail: str | None = None


class Data(Struct, frozen=True):
    """Data of a name that has no struct here."""

    name: str
    data: Any
    id: str | None = None
    transient: bool = False


OfTool: TypeAlias = (
    ToolInputStart
    | ToolInputDelta
    | ToolInputAvailable
    | ToolApprovalRequest
    | ToolOutputAvailable
    | ToolOutputError
    | ToolOutputDenied
)

_Known: TypeAlias = (
    Start
    | StartStep
    | FinishStep
    | Finish
    | Abort
    | Error
    | Metadata
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | OfTool
    | File
    | SourceUrl
)

Chunk: TypeAlias = _Known | AgentStatus | Question | Data


class _Named(Struct):
    type: str


class _Data(Struct):
    type: str
    data: Any
    id: str | None = None
    transient: bool = False


_named = msgspec.json.Decoder(_Named).decode
_known = msgspec.json.Decoder(_Known).decode
_data = msgspec.json.Decoder(_Data).decode


def parse(record: str) -> Chunk:
    """Read the data of one record.

    Raises:
        Malformed: it is no chunk that a client would take.

    """
    try:
        if not _named(record).type.startswith(DATA):
            known: Chunk = _known(record)
            return known
        return _of_data(_data(record))
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Malformed(f"a record is no chunk: {record[:_SHOWN]!r}") from error


def _of_data(data: _Data) -> Chunk:
    match data.type:
        case "data-agent-status":
            return msgspec.convert(data.data, AgentStatus)
        case "data-question" if data.id is not None:
            return question(data.id, data.data)
        case _:
            return Data(data.type.removeprefix(DATA), data.data, data.id, data.transient)
