"""The chunks that an agent sends on the `ui-stream` wire, and how they are decoded.

One server-sent event is one chunk of the AI SDK's UI message stream: a JSON object with a `type`.
Only fields that are read are declared. Agents are read more leniently than clients read us: an id
may be missing, and unknown fields and types end nothing.

The type of a data part ends with a name of the agent's own (`data-weather`). So it is no member of
the union, and `data_part` decodes it. A new chunk is a struct and a member of `Read`. mypy then
names each `match` that lacks it.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, Union

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import HandedOn, Id, SomeId
from turnwire.core.wire.decoder import FrameDecoder, known_frames

DONE: Final = b"[DONE]"
"""The data of the event behind the last chunk."""

DATA: Final = "data-"
"""How the type of a data part begins."""

SKIPPED: Final = (
    "source-document",
    "reasoning-file",
    "custom",
    "steering-message",
    "message-metadata",
    "tool-approval-response",
)
"""Types of chunks that not every client knows, or that no client is sent: each is counted."""


class _Frame(Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all chunks. It declares only fields that are read; an absent `Raw` is empty."""


class Start(_Frame, frozen=True, tag="start"):
    """The beginning of a message. Its id is not read: the message is that of our turn."""


class StartStep(_Frame, frozen=True, tag="start-step"):
    pass


class FinishStep(_Frame, frozen=True, tag="finish-step"):
    pass


class ResetStep(_Frame, frozen=True, tag="reset-step"):
    """The step is tried again, and what it said so far does not count."""


class TextStart(_Frame, frozen=True, tag="text-start"):
    id: SomeId = ""


# `gc=False`: this one comes by the hundred thousand, and cannot be part of a cycle.


class TextDelta(_Frame, frozen=True, gc=False, tag="text-delta", kw_only=True):
    id: SomeId = ""
    delta: HandedOn


class TextEnd(_Frame, frozen=True, tag="text-end"):
    id: SomeId = ""


class ReasoningStart(_Frame, frozen=True, tag="reasoning-start"):
    id: SomeId = ""


class ReasoningDelta(_Frame, frozen=True, gc=False, tag="reasoning-delta", kw_only=True):
    id: SomeId = ""
    delta: HandedOn


class ReasoningEnd(_Frame, frozen=True, tag="reasoning-end"):
    """The end of a block. The metadata may have what the model's host wants back."""

    id: SomeId = ""
    provider_metadata: Raw = Raw()


class ToolInputStart(_Frame, frozen=True, tag="tool-input-start", kw_only=True):
    tool_call_id: Id
    tool_name: Id


class ToolInputDelta(_Frame, frozen=True, gc=False, tag="tool-input-delta", kw_only=True):
    tool_call_id: Id
    input_text_delta: HandedOn


class ToolInputAvailable(_Frame, frozen=True, tag="tool-input-available", kw_only=True):
    tool_call_id: Id
    tool_name: SomeId = ""
    input: Raw = Raw()


class ToolInputError(_Frame, frozen=True, tag="tool-input-error", kw_only=True):
    tool_call_id: Id
    tool_name: SomeId = ""
    input: Raw = Raw()
    error_text: Raw = Raw()


class ToolOutputAvailable(_Frame, frozen=True, tag="tool-output-available", kw_only=True):
    tool_call_id: Id
    output: Raw = Raw()
    preliminary: bool | None = None


class ToolOutputError(_Frame, frozen=True, tag="tool-output-error", kw_only=True):
    tool_call_id: Id
    error_text: Raw = Raw()


class ToolOutputDenied(_Frame, frozen=True, tag="tool-output-denied", kw_only=True):
    tool_call_id: Id


class ToolApprovalRequest(_Frame, frozen=True, tag="tool-approval-request", kw_only=True):
    """The agent asks for a yes or a no. Some agents sign it, and want the signature back.

    No field is checked: where one is wrong, nobody can be asked, and the turn must say so.
    """

    approval_id: Raw = Raw()
    tool_call_id: Raw = Raw()
    signature: Raw = Raw()
    is_automatic: Raw = Raw()
    reason: Raw = Raw()


class SourceUrl(_Frame, frozen=True, tag="source-url", kw_only=True):
    source_id: SomeId = ""
    url: HandedOn
    title: HandedOn | None = None


class File(_Frame, frozen=True, tag="file", kw_only=True):
    url: HandedOn
    media_type: HandedOn


class Error(_Frame, frozen=True, tag="error"):
    error_text: Raw = Raw()


class Abort(_Frame, frozen=True, tag="abort"):
    """The end of a turn that was stopped. No `finish` need follow it."""


class Finish(_Frame, frozen=True, tag="finish"):
    """The end of a turn. No field is checked: a wrong one must not hide the end."""

    finish_reason: Raw = Raw()


class Skipped(_Frame, frozen=True):
    """Base of the chunks in `SKIPPED`: only their type is decoded."""


class DataPart(Struct, frozen=True, kw_only=True):
    """Data of the agent's own kind."""

    type: Id
    data: Raw = Raw(b"null")
    id: SomeId | None = None
    transient: bool | None = None


ContentFrame: TypeAlias = (
    Start
    | TextDelta
    | TextStart
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | StartStep
    | FinishStep
    | ResetStep
    | ToolInputStart
    | ToolInputDelta
    | ToolInputAvailable
    | ToolInputError
    | ToolOutputAvailable
    | ToolOutputError
    | ToolOutputDenied
    | ToolApprovalRequest
    | SourceUrl
    | File
    | Skipped
)
"""Chunks that tell something of a message."""

Read: TypeAlias = ContentFrame | Error | Abort | Finish
"""A decoded chunk of a type without a name of the agent's own."""

KNOWN = known_frames(Read.__args__, Skipped, SKIPPED)
"""The structs of all types of chunks, the skipped ones included."""

decode: Callable[[bytes], Read] = msgspec.json.Decoder(Union[KNOWN]).decode  # noqa: UP007 (built at run time)

data_part: Callable[[bytes], DataPart] = msgspec.json.Decoder(DataPart).decode


def _restore_halves(frame: Read, loose: Any) -> Read:
    """The chunk with the half of a surrogate pair that its delta begins or ends with."""
    if isinstance(frame, TextDelta | ReasoningDelta):
        return msgspec.structs.replace(frame, delta=loose["delta"])
    if isinstance(frame, ToolInputDelta):
        return msgspec.structs.replace(frame, input_text_delta=loose["inputTextDelta"])
    return frame


decoder = FrameDecoder[Read](decode, KNOWN, _restore_halves)
