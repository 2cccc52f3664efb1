"""What a turn yields: one struct per event, named after a chunk of the AI SDK's UI message stream.

Fields that are not declared here are passed over, so a newer gateway is read, too.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import Struct


class _Chunk(Struct, frozen=True, tag_field="type", rename="camel"):
    """Base of the events that are chunks of the wire, field by field."""


class StartStep(_Chunk, frozen=True, tag="start-step"):
    """A step begins: one call of the model, and the tools that it calls."""


class FinishStep(_Chunk, frozen=True, tag="finish-step"):
    """The step ends."""


class TextDelta(_Chunk, frozen=True, tag="text-delta"):
    """Text of the answer. The deltas of one `id` are one text part of the message."""

    id: str
    delta: str


class ReasoningDelta(_Chunk, frozen=True, tag="reasoning-delta"):
    id: str
    delta: str


class ToolInputStart(_Chunk, frozen=True, tag="tool-input-start"):
    """A call begins; its input comes in pieces, or at once."""

    tool_call_id: str
    tool_name: str


class ToolInputDelta(_Chunk, frozen=True, tag="tool-input-delta"):
    """A piece of the input, as text of JSON."""

    tool_call_id: str
    input_text_delta: str


class ToolInputAvailable(_Chunk, frozen=True, tag="tool-input-available"):
    tool_call_id: str
    tool_name: str
    input: Any = None


class ToolOutputAvailable(_Chunk, frozen=True, tag="tool-output-available"):
    """What a call gave. A `preliminary` output is followed by another one; it needs a profile."""

    tool_call_id: str
    output: Any = None
    preliminary: bool = False


class ToolOutputError(_Chunk, frozen=True, tag="tool-output-error"):
    """The call failed, was denied, or was canceled with its turn. The turn may go on."""

    tool_call_id: str
    error_text: str


class File(_Chunk, frozen=True, tag="file"):
    """A file of the answer; `url` is often a `data:` URL."""

    url: str
    media_type: str


class SourceUrl(_Chunk, frozen=True, tag="source-url"):
    source_id: str
    url: str
    title: str | None = None


class Data(Struct, frozen=True):
    """A data part of any name: `data-weather` has the name `weather`.

    With an `id` it replaces the earlier part of that name and id. A `transient` one is of the
    moment, and never in the message: `agent-status` is such.
    """

    name: str
    data: Any
    id: str | None = None
    transient: bool = False


class Question(Struct, frozen=True):
    """A question to the user: `chat.answer(question.id, …)` while `state` is `open`.

    The same question comes again when it is `resolved` or `expired`. `data` has all its fields.
    Without `options` any answer will do.
    """

    id: str
    text: str
    state: str
    options: Sequence[str]
    data: Any


class ToolApprovalRequest(Struct, frozen=True):
    """A call may run only if the user allows it: `chat.approve(request)` or `chat.deny(request)`.

    `approval_id` is signed by the gateway, or None if it has no key. How it was closed comes as a
    `Question` of the same id. A native one (`profile`) has no question: `id` is the `approval_id`,
    there is no `text`, and the decision is sent when its stream has ended. It holds for this tool,
    this input and the turn of `message_id`, the id of the answer. The event comes again if the turn
    asks again.
    """

    id: str
    approval_id: str | None
    tool_call_id: str | None
    tool_name: str | None
    input: Any
    text: str
    is_native: bool = False
    message_id: str | None = None


class Restart(Struct, frozen=True):
    """The message begins again: drop what came of it so far, all of it is yielded anew.

    It comes if an agent takes a lost attempt back, in the profile `7.1`. It also comes after a
    broken connection, if the gateway now sends the answer in other words than before.
    """

    message_id: str | None


class Finish(_Chunk, frozen=True, tag="finish"):
    """The turn is over. `finish_reason` is None where the gateway does not send it."""

    finish_reason: str | None = None
    message_metadata: Any = None

    @property
    def usage(self) -> dict[str, Any] | None:
        """The agent's token counts, if the gateway sends them (`TURNWIRE_USAGE`)."""
        return _usage(self.message_metadata)


class Abort(_Chunk, frozen=True, tag="abort"):
    """The turn was stopped, and is over."""

    reason: str | None = None
    message_metadata: Any = None

    @property
    def usage(self) -> dict[str, Any] | None:
        return _usage(self.message_metadata)


class Error(_Chunk, frozen=True, tag="error"):
    """The turn failed, and is over. `error_text` is safe to show."""

    error_text: str
    message_metadata: Any = None

    @property
    def usage(self) -> dict[str, Any] | None:
        return _usage(self.message_metadata)


End: TypeAlias = Finish | Abort | Error
"""The last event of a turn: exactly one of these comes."""

Event: TypeAlias = (
    StartStep
    | FinishStep
    | TextDelta
    | ReasoningDelta
    | ToolInputStart
    | ToolInputDelta
    | ToolInputAvailable
    | ToolOutputAvailable
    | ToolOutputError
    | ToolApprovalRequest
    | Question
    | Data
    | File
    | SourceUrl
    | Restart
    | End
)


def _usage(metadata: Any) -> dict[str, Any] | None:
    usage = metadata.get("usage") if isinstance(metadata, dict) else None
    return usage if isinstance(usage, dict) else None
