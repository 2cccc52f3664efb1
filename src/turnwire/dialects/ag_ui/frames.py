"""The events that an agent sends on the `ag-ui` wire, and how they are decoded.

One server-sent event is one frame: a JSON object with a `type` in capitals. Only fields that are
read are declared. What agents add to an event as a copy for debugging (`rawEvent`) and the content
of `RAW` are skipped without being decoded, since they may be most of the bytes.

A new frame is a struct and a member of `Read`. mypy then names each `match` that lacks it.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, Union

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import HandedOn, Id, SomeId, Word
from turnwire.core.wire.decoder import FrameDecoder, known_frames

SKIPPED: Final = ("REASONING_START", "REASONING_END", "THINKING_START", "THINKING_END")
"""Types of events that only say where a span of reasoning begins and ends: they add nothing to the
messages in it."""


class _Frame(Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all events. It declares only fields that are read; an absent `Raw` is empty."""


class _Owned(_Frame, frozen=True):
    """Base of events that may belong to a subagent of the run."""

    subagent_run_id: SomeId | None = None


class RunStarted(_Frame, frozen=True, tag="RUN_STARTED"):
    """The begin of a run. No field is checked: a wrong one must not hide that a run begins."""

    thread_id: Raw = Raw()
    run_id: Raw = Raw()
    protocol_version: Raw = Raw()


class RunFinished(_Frame, frozen=True, tag="RUN_FINISHED"):
    """The end of a run. No field is checked: a wrong one must not hide the end."""

    thread_id: Raw = Raw()
    run_id: Raw = Raw()
    outcome: Raw = Raw()
    usage: Raw = Raw()
    result: Raw = Raw()


class RunError(_Frame, frozen=True, tag="RUN_ERROR"):
    message: Raw = Raw()
    code: Raw = Raw()
    usage: Raw = Raw()


class StepStarted(_Owned, frozen=True, tag="STEP_STARTED", kw_only=True):
    step_name: HandedOn


class StepFinished(_Owned, frozen=True, tag="STEP_FINISHED", kw_only=True):
    step_name: HandedOn


class TextStart(_Owned, frozen=True, tag="TEXT_MESSAGE_START", kw_only=True):
    message_id: Id
    role: Word | None = None


# `gc=False`: this one comes by the hundred thousand, and cannot be part of a cycle.


class TextContent(_Owned, frozen=True, gc=False, tag="TEXT_MESSAGE_CONTENT", kw_only=True):
    message_id: Id
    delta: HandedOn


class TextEnd(_Owned, frozen=True, tag="TEXT_MESSAGE_END", kw_only=True):
    message_id: Id


class TextChunk(_Owned, frozen=True, gc=False, tag="TEXT_MESSAGE_CHUNK"):
    message_id: SomeId | None = None
    role: Word | None = None
    delta: HandedOn | None = None


class ReasoningStart(_Owned, frozen=True, tag="REASONING_MESSAGE_START", kw_only=True):
    message_id: Id


class ReasoningContent(
    _Owned, frozen=True, gc=False, tag="REASONING_MESSAGE_CONTENT", kw_only=True
):
    message_id: Id
    delta: HandedOn


class ReasoningEnd(_Owned, frozen=True, tag="REASONING_MESSAGE_END", kw_only=True):
    message_id: Id


class ReasoningChunk(_Owned, frozen=True, gc=False, tag="REASONING_MESSAGE_CHUNK"):
    message_id: SomeId | None = None
    delta: HandedOn | None = None


class ThinkingStart(_Owned, frozen=True, tag="THINKING_TEXT_MESSAGE_START"):
    """Reasoning as agents before version 1.0 of the wire told it: without ids."""


class ThinkingContent(_Owned, frozen=True, tag="THINKING_TEXT_MESSAGE_CONTENT", kw_only=True):
    delta: HandedOn


class ThinkingEnd(_Owned, frozen=True, tag="THINKING_TEXT_MESSAGE_END"):
    pass


class EncryptedValue(_Frame, frozen=True, tag="REASONING_ENCRYPTED_VALUE"):
    subtype: Raw = Raw()
    entity_id: Raw = Raw()
    encrypted_value: Raw = Raw()


class CallStart(_Owned, frozen=True, tag="TOOL_CALL_START", kw_only=True):
    tool_call_id: Id
    tool_call_name: Id


class CallArgs(_Owned, frozen=True, gc=False, tag="TOOL_CALL_ARGS", kw_only=True):
    tool_call_id: Id
    delta: HandedOn


class CallEnd(_Owned, frozen=True, tag="TOOL_CALL_END", kw_only=True):
    tool_call_id: Id


class CallChunk(_Owned, frozen=True, gc=False, tag="TOOL_CALL_CHUNK"):
    tool_call_id: SomeId | None = None
    tool_call_name: SomeId | None = None
    delta: HandedOn | None = None


class CallResult(_Owned, frozen=True, tag="TOOL_CALL_RESULT", kw_only=True):
    tool_call_id: Id
    message_id: Raw = Raw()
    content: Raw = Raw()


class MessagesSnapshot(_Frame, frozen=True, tag="MESSAGES_SNAPSHOT", kw_only=True):
    messages: Raw


class StateSnapshot(_Owned, frozen=True, tag="STATE_SNAPSHOT"):
    snapshot: Raw = Raw()


class StateDelta(_Owned, frozen=True, tag="STATE_DELTA"):
    delta: Raw = Raw()


class ActivitySnapshot(_Owned, frozen=True, tag="ACTIVITY_SNAPSHOT", kw_only=True):
    message_id: Id
    activity_type: Id
    content: Raw = Raw()
    replace: bool | None = None


class ActivityDelta(_Owned, frozen=True, tag="ACTIVITY_DELTA", kw_only=True):
    message_id: Id
    patch: Raw = Raw()


class SubagentStarted(_Frame, frozen=True, tag="SUBAGENT_STARTED", kw_only=True):
    subagent_run_id: Id
    name: Id


class SubagentFinished(_Frame, frozen=True, tag="SUBAGENT_FINISHED", kw_only=True):
    subagent_run_id: Id
    result: Raw = Raw()


class SubagentError(_Frame, frozen=True, tag="SUBAGENT_ERROR", kw_only=True):
    subagent_run_id: Id
    message: Raw = Raw()


class Custom(_Owned, frozen=True, tag="CUSTOM", kw_only=True):
    name: HandedOn
    value: Raw = Raw()


class Unparsed(_Frame, frozen=True, tag="RAW"):
    """An event of the framework behind the agent."""


class Skipped(_Frame, frozen=True):
    """Base of the events in `SKIPPED`: only their type is decoded."""


Shorthand: TypeAlias = TextChunk | ReasoningChunk | CallChunk
"""Events that open, go on and close by themselves (`shorthand`)."""

RunEvent: TypeAlias = (
    TextContent
    | TextStart
    | TextEnd
    | ReasoningStart
    | ReasoningContent
    | ReasoningEnd
    | ThinkingStart
    | ThinkingContent
    | ThinkingEnd
    | EncryptedValue
    | CallStart
    | CallArgs
    | CallEnd
    | CallResult
    | StepStarted
    | StepFinished
    | MessagesSnapshot
    | StateSnapshot
    | StateDelta
    | ActivitySnapshot
    | ActivityDelta
    | SubagentStarted
    | SubagentFinished
    | SubagentError
    | Custom
    | Skipped
)
"""Events that tell something of a run, none of them in shorthand."""

Read: TypeAlias = RunEvent | Shorthand | RunStarted | RunFinished | RunError | Unparsed
"""A decoded event."""

KNOWN = known_frames(Read.__args__, Skipped, SKIPPED)
"""The structs of all types of events, the skipped ones included."""

decode: Callable[[bytes], Read] = msgspec.json.Decoder(Union[KNOWN]).decode  # noqa: UP007 (built at run time)

RAW_BEGINNINGS: Final = (b'{"type":"RAW"', b'{"type": "RAW"')
"""How nearly all events of the framework behind the agent begin."""


_Delta: TypeAlias = TextContent | ReasoningContent | ThinkingContent | CallArgs | Shorthand


def _restore_halves(frame: Read, loose: Any) -> Read:
    """The event with the half of a surrogate pair that its delta begins or ends with."""
    if isinstance(frame, _Delta) and isinstance(frame.delta, str):
        return msgspec.structs.replace(frame, delta=loose["delta"])
    return frame


decoder = FrameDecoder[Read](decode, KNOWN, _restore_halves)
