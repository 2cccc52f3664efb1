"""The UI message stream: one struct per chunk of the portable profile.

Source: vercel/ai, packages/ai/src/ui-message-stream/ui-message-chunks.ts, read
at ai 5.0.0 to 7.0.173. Clients up to 5.0.216, 6.0.230 and 7.0.31 reject a
chunk with a field that they do not know, and every client rejects `null` in an
optional field. So a struct has exactly the fields that all clients accept, and
an unset field is omitted.

This file declares every chunk that the gateway sends to a client.
"""

from typing import TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType


class _Chunk(Struct, frozen=True, tag_field="type", rename="camel"):
    """Base of all chunks; `type` comes first in the record."""


class Start(_Chunk, frozen=True, tag="start"):
    message_id: str | UnsetType = UNSET


class StartStep(_Chunk, frozen=True, tag="start-step"):
    pass


class FinishStep(_Chunk, frozen=True, tag="finish-step"):
    pass


class ResetStep(_Chunk, frozen=True, tag="reset-step"):
    """The parts of the step, from its `start-step` on, are taken back. Known from 7.0.70 on.

    Older clients refuse the answer. So it is sent only to clients that name the profile `7.1`.
    """


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
    """Each tool chunk has `provider_executed`: without it some apps repeat the request forever."""

    tool_call_id: str
    tool_name: str
    provider_executed: bool = True


class ToolInputDelta(_Chunk, frozen=True, tag="tool-input-delta"):
    """Has no `providerExecuted`: no client knows that field here.

    Clients refuse it without a `tool-input-start` of the same response.
    """

    tool_call_id: str
    input_text_delta: str


class ToolInputAvailable(_Chunk, frozen=True, tag="tool-input-available"):
    tool_call_id: str
    tool_name: str
    input: Raw
    provider_executed: bool = True


class ToolOutputAvailable(_Chunk, frozen=True, tag="tool-output-available"):
    tool_call_id: str
    output: Raw
    provider_executed: bool = True


class ToolOutputPreliminary(_Chunk, frozen=True, tag="tool-output-available"):
    """An output that the next one replaces. Known from 5.0.11 on.

    So it is sent only to clients that asked for native approvals, which 6.0.0 has.
    """

    tool_call_id: str
    output: Raw
    preliminary: bool = True
    provider_executed: bool = True


class ToolOutputError(_Chunk, frozen=True, tag="tool-output-error"):
    tool_call_id: str
    error_text: str
    provider_executed: bool = True


class ToolApprovalRequest(_Chunk, frozen=True, tag="tool-approval-request"):
    """Known from 6.0.0 on; a client of version 5 rejects the whole answer.

    So it is sent only to clients that asked for native approvals.
    """

    approval_id: str
    tool_call_id: str


class File(_Chunk, frozen=True, tag="file"):
    url: str
    media_type: str


class SourceUrl(_Chunk, frozen=True, tag="source-url"):
    source_id: str
    url: str
    title: str | UnsetType = UNSET


class StatusData(Struct, frozen=True):
    status: str
    detail: str | UnsetType = UNSET


class DataAgentStatus(_Chunk, frozen=True, tag="data-agent-status"):
    """Goes to `onData` alone: a transient part never enters the message."""

    data: StatusData
    transient: bool = True


class DataQuestion(_Chunk, frozen=True, tag="data-question"):
    """A persistent part. Another chunk with the same id replaces it."""

    id: str
    data: Raw


class DataPart(Struct, frozen=True, rename="camel"):
    """A part of the agent's own kind. `type` is a field, not a tag, because it holds a name.

    With an `id`, it replaces the part that has the same type and id.
    """

    type: str
    data: Raw
    id: str | UnsetType = UNSET
    transient: bool | UnsetType = UNSET
    """True or unset."""


class Error(_Chunk, frozen=True, tag="error"):
    """Terminal: the client stops reading here. Send it after all blocks and calls are closed."""

    error_text: str


class Abort(_Chunk, frozen=True, tag="abort"):
    pass


class Finish(_Chunk, frozen=True, tag="finish"):
    """`finish_reason`, a word that all releases since 6.0.0 know, is not known before 5.0.92.

    So it is sent only to clients that asked for native approvals, which 6.0.0 has.
    """

    message_metadata: Raw | UnsetType = UNSET
    finish_reason: str | UnsetType = UNSET


Chunk: TypeAlias = (
    Start
    | StartStep
    | FinishStep
    | ResetStep
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolInputAvailable
    | ToolOutputAvailable
    | ToolOutputPreliminary
    | ToolOutputError
    | ToolApprovalRequest
    | File
    | SourceUrl
    | DataAgentStatus
    | DataQuestion
    | DataPart
    | Error
    | Abort
    | Finish
)
