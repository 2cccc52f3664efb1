"""The messages that an agent sends on the `acp` wire, and how they are decoded.

A text frame is one message of JSON-RPC 2.0: a response to a request of ours, a request to us, or a
notification. Its `params` are decoded apart, once its method is known. Only fields that are read
are declared.
"""

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import FEW, HandedOn, Id, SomeId, Word
from turnwire.core.wire import lenient
from turnwire.core.wire.decoder import FrameDecoder
from turnwire.core.wire.frame_stats import FrameStats

_ABSENT: Final = frozenset({b"", b"null"})

UPDATE: Final = "session/update"
PERMISSION: Final = "session/request_permission"
WITHDRAW: Final = "$/cancel_request"


class Message(Struct, frozen=True, gc=False):
    """Any message. A response has no `method`, a notification no `id`."""

    method: Word | None = None
    id: Raw = Raw()
    """A string, a number or null, as its sender wrote it: an answer to it has the very same."""
    params: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()
    jsonrpc: Raw = Raw()

    @property
    def has_id(self) -> bool:
        return bytes(self.id) not in _ABSENT

    @property
    def number(self) -> float | None:
        """The id of one of our requests, which some JSON has as `10.0`; None if it is no number."""
        return lenient.field(_decode_number, self.id)

    @property
    def failure(self) -> Raw:
        """Its error; empty if it has none. Some agents write a null beside the result."""
        return Raw() if bytes(self.error) in _ABSENT else self.error

    @property
    def is_response(self) -> bool:
        """Whether it answers a request. Of another line of JSON, such as one of a log, it is False.

        An agent that could not read a request answers it with an error and no id.
        """
        if self.has_id:
            return bool(self.result or self.failure or self.jsonrpc)
        return lenient.field(rpc_error, self.failure) is not None


class TornMessage(Message, frozen=True, gc=False):
    """A message whose chunk begins or ends with half of a surrogate pair."""

    text: str = ""
    """The text of the chunk, with that half."""


class _Camel(Struct, frozen=True, rename="camel"):
    """Base of what stands in a message; an absent `Raw` is empty."""


class _Update(Struct, frozen=True, rename="camel", tag_field="sessionUpdate"):
    """Base of the updates of a session."""


class _Chunk(_Update, frozen=True):
    """A piece of a message: a block of content."""

    content: Raw = Raw()
    message_id: SomeId | None = None


class AgentChunk(_Chunk, frozen=True, tag="agent_message_chunk"):
    pass


class ThoughtChunk(_Chunk, frozen=True, tag="agent_thought_chunk"):
    pass


class UserChunk(_Chunk, frozen=True, tag="user_message_chunk"):
    pass


class _Call(_Update, frozen=True, kw_only=True):
    """A state of a tool call. What an update does not have stays as it was."""

    tool_call_id: Id
    title: HandedOn | None = None
    kind: Word | None = None
    status: Word | None = None
    raw_input: Raw = Raw()
    raw_output: Raw = Raw()
    content: Raw = Raw()
    locations: Raw = Raw()


class ToolCall(_Call, frozen=True, tag="tool_call"):
    pass


class ToolCallUpdate(_Call, frozen=True, tag="tool_call_update"):
    pass


class Plan(_Update, frozen=True, tag="plan"):
    entries: Raw = Raw()


class UsageUpdate(_Update, frozen=True, tag="usage_update"):
    """How full the context of the model is. What a turn used stands in the response to it."""


class PlanUpdate(_Update, frozen=True, tag="plan_update"):
    pass


class PlanRemoved(_Update, frozen=True, tag="plan_removed"):
    pass


class CommandsUpdate(_Update, frozen=True, tag="available_commands_update"):
    pass


class ModeUpdate(_Update, frozen=True, tag="current_mode_update"):
    pass


class ConfigUpdate(_Update, frozen=True, tag="config_option_update"):
    pass


class InfoUpdate(_Update, frozen=True, tag="session_info_update"):
    pass


CallFrame: TypeAlias = ToolCall | ToolCallUpdate
PastUpdate: TypeAlias = AgentChunk | ThoughtChunk | UserChunk | CallFrame | Plan
"""What a session that goes on tells again of its past."""
Skipped: TypeAlias = (
    UsageUpdate | PlanUpdate | PlanRemoved | CommandsUpdate | ModeUpdate | ConfigUpdate | InfoUpdate
)
"""Updates that are shown to nobody: each is counted."""

Update: TypeAlias = PastUpdate | Skipped
UPDATES: Final = frozenset(str(kind.__struct_config__.tag) for kind in Update.__args__)
"""The kinds of updates."""


class UpdateParams(_Camel, frozen=True):
    session_id: Id
    update: Update


class _Kind(_Camel, frozen=True):
    session_update: Word = ""


class _AnyUpdate(Struct, frozen=True):
    update: _Kind


class Block(Struct, frozen=True):
    """A block of content of any type."""

    type: Word
    text: HandedOn | None = None


class Media(_Camel, frozen=True):
    """What a block has that is no text."""

    data: HandedOn | None = None
    mime_type: HandedOn | None = None
    uri: HandedOn | None = None
    name: HandedOn | None = None


class CallContent(_Camel, frozen=True):
    type: Word
    content: Raw = Raw()


class Option(_Camel, frozen=True):
    """An answer that the agent offers. Its kind is `allow_once`, `reject_once` and so on."""

    option_id: Id | int
    name: HandedOn | None = None
    kind: Word | None = None


class PermissionCall(_Camel, frozen=True):
    tool_call_id: Id
    title: HandedOn | None = None
    kind: Word | None = None
    raw_input: Raw = Raw()
    content: Raw = Raw()
    locations: Raw = Raw()


class PermissionParams(_Camel, frozen=True):
    session_id: Id
    tool_call: PermissionCall
    options: Raw = Raw()


class Withdrawn(_Camel, frozen=True):
    """The sender of a request needs no answer to it any more."""

    request_id: Raw


class Initialized(_Camel, frozen=True):
    protocol_version: int
    agent_capabilities: Raw = Raw()


class SessionMade(_Camel, frozen=True):
    session_id: Id


class PromptDone(_Camel, frozen=True):
    stop_reason: Word
    usage: Raw = Raw()


class RpcError(Struct, frozen=True):
    code: int
    message: HandedOn = ""


_decode_number: Callable[[Raw], float] = msgspec.json.Decoder(float).decode
decode: Callable[[bytes], Message] = msgspec.json.Decoder(Message).decode
update_params: Callable[[Raw], UpdateParams] = msgspec.json.Decoder(UpdateParams).decode
permission_params: Callable[[Raw], PermissionParams] = msgspec.json.Decoder(PermissionParams).decode
elements: Callable[[Raw], list[Raw]] = msgspec.json.Decoder(Annotated[list[Raw], FEW]).decode
option: Callable[[Raw], Option] = msgspec.json.Decoder(Option).decode
withdrawn: Callable[[Raw], Withdrawn] = msgspec.json.Decoder(Withdrawn).decode
block: Callable[[Raw], Block] = msgspec.json.Decoder(Block).decode
media: Callable[[Raw], Media] = msgspec.json.Decoder(Media).decode
call_contents: Callable[[Raw], list[CallContent]] = msgspec.json.Decoder(
    Annotated[list[CallContent], FEW]
).decode
initialized: Callable[[Raw], Initialized] = msgspec.json.Decoder(Initialized).decode
session_made: Callable[[Raw], SessionMade] = msgspec.json.Decoder(SessionMade).decode
prompt_done: Callable[[Raw], PromptDone] = msgspec.json.Decoder(PromptDone).decode
rpc_error: Callable[[Raw], RpcError] = msgspec.json.Decoder(RpcError).decode


_any_update: Callable[[Raw], _AnyUpdate] = msgspec.json.Decoder(_AnyUpdate).decode


def count_rejected(raw: bytes, message: Message, frame_stats: FrameStats) -> None:
    """Count a message whose params could not be decoded: an update of an unknown kind by its name.

    `raw` is the frame of the message.
    """
    found = lenient.field(_any_update, message.params) if message.method == UPDATE else None
    kind = "" if found is None else found.update.session_update
    if kind and kind not in UPDATES:
        frame_stats.count_unknown(kind)
    else:
        frame_stats.count_malformed(raw)


def _restore_halves(message: Message, loose: Any) -> Message:
    """The message with the half of a surrogate pair that its chunk begins or ends with."""
    found = loose
    for key in ("params", "update", "content", "text"):
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, str):
        return message
    return TornMessage(**msgspec.structs.asdict(message), text=found)


decoder = FrameDecoder[Message](decode, (), _restore_halves)
