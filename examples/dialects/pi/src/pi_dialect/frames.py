"""The lines that pi writes: responses to commands, events of its session, questions of extensions.

Of a message, only what its role needs is read. A message of the role `system` has the whole system
prompt, and no field of it is kept.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, TypeAlias, Union

import msgspec
from msgspec import Raw, Struct

import turnwire.dialect as td


class Response(Struct, frozen=True, rename="camel", tag="response"):
    """The answer to a command, with the id of the command."""

    command: td.Word
    id: td.SomeId | None = None
    success: bool = False
    error: td.HandedOn | None = None
    data: Raw = Raw()


class State(Struct, frozen=True, rename="camel"):
    """What is read of the `data` of responses."""

    is_streaming: bool = False
    is_compacting: bool = False
    session_file: td.HandedOn | None = None
    message_count: int = 0
    pending_message_count: int = 0
    cancelled: bool = False
    disposition: td.Word | None = None


class AgentStart(Struct, frozen=True, tag="agent_start"):
    pass


class TurnStart(Struct, frozen=True, tag="turn_start"):
    pass


class AgentMessage(Struct, frozen=True, rename="camel"):
    """A message of any role."""

    role: td.Word
    content: Raw = Raw()
    stop_reason: td.Word | None = None
    error_message: td.HandedOn | None = None
    usage: Raw = Raw()
    tool_call_id: td.SomeId = ""
    is_error: bool = False


class MessageStart(Struct, frozen=True, tag="message_start"):
    message: AgentMessage


class MessageEnd(Struct, frozen=True, tag="message_end"):
    """The end of a message, with the whole of it."""

    message: AgentMessage


class Update(Struct, frozen=True, rename="camel"):
    """What is new in the message of the assistant, in the block with this index."""

    type: td.Word
    content_index: int = 0
    delta: td.HandedOn = ""
    content: td.HandedOn = ""
    id: td.SomeId = ""
    tool_name: td.SomeId = ""
    tool_call: Raw = Raw()


class MessageUpdate(Struct, frozen=True, rename="camel", tag="message_update"):
    assistant_message_event: Update


class ToolExecutionStart(Struct, frozen=True, rename="camel", tag="tool_execution_start"):
    tool_call_id: td.Id
    tool_name: td.Id
    args: Raw = Raw()


class ToolExecutionUpdate(Struct, frozen=True, rename="camel", tag="tool_execution_update"):
    """The result of a call as far as it has come: the whole of it, each time."""

    tool_call_id: td.Id
    tool_name: td.Id
    partial_result: Raw = Raw()


class ToolExecutionEnd(Struct, frozen=True, rename="camel", tag="tool_execution_end"):
    tool_call_id: td.Id
    tool_name: td.Id
    result: Raw = Raw()
    is_error: bool = False


class TurnEnd(Struct, frozen=True, tag="turn_end"):
    """The end of one answer of the model. All that it has was told before."""


class AgentEnd(Struct, frozen=True, rename="camel", tag="agent_end"):
    """The end of one attempt. Before 0.87 nothing says whether another one follows."""

    will_retry: bool | None = None


class AgentSettled(Struct, frozen=True, tag="agent_settled"):
    """The agent does not go on by itself."""

    aborted: bool = False


class QueueUpdate(Struct, frozen=True, rename="camel", tag="queue_update"):
    steering: Annotated[list[td.HandedOn], td.MANY] = []
    follow_up: Annotated[list[td.HandedOn], td.MANY] = []


class AutoRetryStart(Struct, frozen=True, rename="camel", tag="auto_retry_start"):
    attempt: int = 1
    max_attempts: int = 1


class AutoRetryEnd(Struct, frozen=True, tag="auto_retry_end"):
    success: bool = False


class CompactionStart(Struct, frozen=True, tag="compaction_start"):
    reason: td.Word | None = None


class CompactionEnd(Struct, frozen=True, tag="compaction_end"):
    reason: td.Word | None = None


class ExtensionUiRequest(Struct, frozen=True, rename="camel", tag="extension_ui_request"):
    """What an extension asks or shows its user. `timeout` is in milliseconds."""

    id: td.Id
    method: td.Word
    title: td.HandedOn = ""
    message: td.HandedOn = ""
    options: Annotated[list[td.HandedOn], td.MANY] = []
    placeholder: td.HandedOn | None = None
    prefill: td.HandedOn | None = None
    timeout: float | None = None
    status_text: td.HandedOn | None = None


class NotShown(Struct, frozen=True):
    """Base of the events that are known, and of which nothing is shown."""


_Message: TypeAlias = MessageStart | MessageUpdate | MessageEnd
_Tool: TypeAlias = ToolExecutionStart | ToolExecutionUpdate | ToolExecutionEnd
_Attempt: TypeAlias = AutoRetryStart | AutoRetryEnd | CompactionStart | CompactionEnd
_Agent: TypeAlias = AgentStart | AgentEnd | AgentSettled | TurnStart | TurnEnd | QueueUpdate
Event: TypeAlias = _Message | _Tool | _Attempt | _Agent | NotShown
Line: TypeAlias = Response | ExtensionUiRequest | Event

_READ: Final = (
    *(Response, ExtensionUiRequest, MessageStart, MessageUpdate, MessageEnd),
    *(ToolExecutionStart, ToolExecutionUpdate, ToolExecutionEnd),
    *(AutoRetryStart, AutoRetryEnd, CompactionStart, CompactionEnd),
    *(AgentStart, AgentEnd, AgentSettled, TurnStart, TurnEnd, QueueUpdate),
)
_NOT_SHOWN: Final = td.names(
    "entry_appended session_info_changed thinking_level_changed"
    " extension_error bash_execution_update"
    " summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_finished"
)
KINDS: Final = td.known_frames(_READ, NotShown, sorted(_NOT_SHOWN))


def tag_of(kind: type[Struct]) -> str:
    """Return the `type` of a line."""
    return str(kind.__struct_config__.tag)


def _restore_halves(line: Line, loose: Mapping[str, Any]) -> Line:
    """The line with its delta as it came. Strict JSON has no half of a surrogate pair."""
    if not isinstance(line, MessageUpdate):
        return line
    update = line.assistant_message_event
    delta = loose["assistantMessageEvent"].get("delta", "")
    return MessageUpdate(msgspec.structs.replace(update, delta=delta))


_ANY_KIND: Any = Union[KINDS]  # noqa: UP007 (built at run time)
DECODER: Final[td.FrameDecoder[Line]] = td.FrameDecoder(
    msgspec.json.Decoder(_ANY_KIND).decode, KINDS, _restore_halves
)


class Block(Struct, frozen=True, rename="camel"):
    """A block of a message or of a result. `text` stays JSON: an output is handed on."""

    type: td.Word = ""
    text: Raw = Raw()
    thinking: td.HandedOn = ""
    data: td.HandedOn = ""
    mime_type: td.Word = ""
    id: td.SomeId = ""
    name: td.SomeId = ""
    arguments: Raw = Raw()


class _Result(Struct, frozen=True):
    content: Raw = Raw()


class Usage(Struct, frozen=True, rename="camel"):
    """The tokens of one message."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


_decode_state = msgspec.json.Decoder(State).decode
_decode_blocks = msgspec.json.Decoder(Annotated[list[Raw], td.MANY]).decode
_decode_block = msgspec.json.Decoder(Block).decode
_decode_result = msgspec.json.Decoder(_Result).decode
_decode_usage = msgspec.json.Decoder(Usage).decode
decode_text = msgspec.json.Decoder(str).decode


def is_string(value: Raw) -> bool:
    """Whether a JSON value is a string. It may have megabytes, so it is not decoded."""
    return bytes(memoryview(value)[:1]) == b'"'


def state_of(response: Response) -> State:
    """Return what a response says; nothing, if that cannot be read."""
    try:
        return _decode_state(response.data or b"{}")
    except msgspec.DecodeError:
        return State()


def usage_of(message: AgentMessage) -> Usage:
    """Return the tokens of a message; none, if they cannot be read."""
    try:
        return _decode_usage(message.usage or b"{}")
    except msgspec.DecodeError:
        return Usage()


def blocks_of(content: Raw) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of a message that can be read, with their indexes.

    A content may be a text alone: that is its only block.
    """
    if is_string(content):
        yield 0, Block("text", text=content)
        return
    try:
        elements = _decode_blocks(content or b"[]")
    except msgspec.DecodeError:
        return
    for index, element in enumerate(elements):
        try:
            block = _decode_block(element)
        except msgspec.DecodeError:
            continue
        yield index, block


def content_of(result: Raw) -> Raw | None:
    """Return the content of a tool's result; None if the result is of another shape."""
    try:
        return _decode_result(result).content or None
    except msgspec.DecodeError:
        return None


def text_of(block: Block) -> str:
    """Return the text of a block; no text, if it is none."""
    try:
        return decode_text(block.text or b'""')
    except msgspec.DecodeError:
        return ""


_MESSAGE: Final = td.names(
    "toolName timestamp api provider model responseModel responseId providerThinkingLevel"
    " diagnostics deferred rawStopReason endTurn details sections toolsAdded toolsRemoved replace"
    " command output exitCode cancelled truncated fullOutputPath excludeFromContext customType"
    " display summary fromId tokensBefore"
)
_BLOCK: Final = td.names("textSignature thinkingSignature redacted thoughtSignature namespace")
_STATE: Final = td.names(
    "model thinkingLevel steeringMode followUpMode sessionId sessionName autoCompactionEnabled"
    " messages steering followUp"
)

SCHEMA: Final = td.WireSchema(
    frames=KINDS,
    deltas=td.names("message_update"),
    unread={
        "response.data": _STATE,
        "message_start.message": _MESSAGE,
        "message_end.message": _MESSAGE,
        "message_start.message.content": _BLOCK,
        "message_end.message.content": _BLOCK,
        "message_start.message.usage": td.names("*"),
        "message_end.message.usage": td.names("reasoning totalTokens cost cacheWrite1h"),
        "message_update": td.names("usage message"),
        "message_update.assistantMessageEvent": td.names("partial contentSignature reason error"),
        "tool_execution_update": td.names("args"),
        "tool_execution_end.result": td.names("details"),
        "tool_execution_update.partialResult": td.names("details"),
        "agent_end": td.names("messages"),
        "auto_retry_start": td.names("delayMs errorMessage"),
        "auto_retry_end": td.names("attempt finalError"),
        "compaction_end": td.names("*"),
        "extension_ui_request": td.names(
            "notifyType statusKey widgetKey widgetLines widgetPlacement text"
        ),
    },
    inside={
        "response.data": State,
        "message_start.message.content": Block,
        "message_end.message.content": Block,
        "message_end.message.usage": Usage,
        "message_update.assistantMessageEvent.toolCall": Block,
        "tool_execution_end.result": _Result,
        "tool_execution_update.partialResult": _Result,
        "tool_execution_end.result.content": Block,
        "tool_execution_update.partialResult.content": Block,
    },
    kept=td.names(
        "command method stopReason disposition contentIndex messageCount pendingMessageCount"
        " attempt maxAttempts mimeType name timeout"
    ),
    hidden=td.names(
        "tool_execution_end.result tool_execution_update.partialResult agent_end.messages"
        " turn_end.message turn_end.toolResults entry_appended.entry compaction_end.result"
        " message_start.message.details message_end.message.details"
        " message_start.message.sections message_end.message.sections"
        " message_start.message.toolsAdded message_end.message.toolsAdded"
        " response.data.model response.data.messages"
        " message_update.message message_update.assistantMessageEvent.partial"
    ),
    read=td.names(
        "tool_execution_end.result.content.type tool_execution_update.partialResult.content.type"
        " tool_execution_end.result.content.mimeType"
    ),
)
