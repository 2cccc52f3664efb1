"""Converts the messages of a chat request for an agent that keeps no conversation.

Use: `read_in_steps(messages, limits)` returns a `Conversation`: the client's messages as turns of
the user, of the assistant and of tools, in an order that model APIs take. A dialect writes them in
the words of its wire.

What a client says of earlier turns is its own word. So nothing of it is refused (the new prompt is
checked by `prompt`): what cannot be said is left out, and counted. These rules hold on every wire:

* each step of an assistant's message that has calls is a message of its own, followed by the
  results of its calls; text behind a call begins a new step;
* a call without an outcome gets an error as its result, since model APIs refuse a call without one;
* an approval that stands in a message approves nothing: its call has no outcome;
* ids are the client's own, or are derived from them, so that they are the same in each request, and
  no id of a call is used twice;
* data parts, sources and empty messages are left out; system messages are, unless the limits say
  otherwise.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import safe_json
from turnwire.core.body import attachments
from turnwire.core.body.attachments import Attachment, AttachmentLimits
from turnwire.core.bounds import HandedOn, Word
from turnwire.core.steps import Steps
from turnwire.errors import BadRequest

PARTS_MAX: Final = 1_000
"""Most parts of a message that are read."""

VALUES_MAX: Final = 200_000
"""A message with more parts is malformed."""

NO_RESULT: Final = "No result"
"""The result of a call that has none in the client's copy."""

DENIED: Final = "The user denied this call"

_PARTS_AT_ONCE: Final = 16


class ConversationLimits(Struct, frozen=True, kw_only=True):
    """How much of a conversation is sent."""

    messages: int = 500
    """Most messages of the client. The oldest are left out first, up to a message of the user."""
    with_system: bool = False
    """Whether the client's system messages are sent."""
    attachments: AttachmentLimits = AttachmentLimits()


class Text(Struct, frozen=True):
    text: str


class Reasoning(Struct, frozen=True):
    text: str


class File(Struct, frozen=True):
    attachment: Attachment


class Call(Struct, frozen=True):
    """A call of a tool. `input` is JSON."""

    call_id: str
    name: str
    input: Raw


class Result(Struct, frozen=True):
    """The outcome of a call: JSON, or the text of an error."""

    message_id: str
    call_id: str
    name: str
    output: Raw | None
    error: str | None = None
    is_denied: bool = False


class UserMessage(Struct, frozen=True):
    message_id: str
    parts: tuple[Text | File, ...]


class SystemMessage(Struct, frozen=True):
    message_id: str
    text: str


class AssistantMessage(Struct, frozen=True):
    """One step. `calls` come after all of `parts`, and their results follow it."""

    message_id: str
    parts: tuple[Text | Reasoning | File, ...]
    calls: tuple[Call, ...] = ()


Message: TypeAlias = UserMessage | SystemMessage | AssistantMessage | Result


class Conversation(Struct, frozen=True):
    """The messages in order. `left_out` counts what could not be said, by kind, for the log."""

    messages: tuple[Message, ...]
    left_out: Mapping[str, int]


class _Message(Struct):
    role: Raw
    id: Raw = Raw()
    parts: Annotated[list[Raw], Meta(max_length=VALUES_MAX)] | None = None
    content: Raw = Raw()


class _Part(Struct, rename="camel"):
    """A part of any type. A field of an unexpected type is left out later."""

    type: Word
    text: Raw = Raw()
    tool_call_id: Raw = Raw()
    tool_name: Raw = Raw()
    state: Raw = Raw()
    input: Raw = Raw()
    raw_input: Raw = Raw()
    output: Raw = Raw()
    error_text: Raw = Raw()
    preliminary: Raw = Raw()
    approval: Raw = Raw()


class _Approval(Struct):
    approved: bool | None = None
    reason: HandedOn | None = None


_LEFT_OUT: Final = frozenset({"source-url", "source-document", "step-start"})
"""Types of parts that no agent takes back, beside those of data."""

_message = msgspec.json.Decoder(_Message).decode
_part = msgspec.json.Decoder(_Part).decode
_approval = msgspec.json.Decoder(_Approval).decode


def read_in_steps(messages: Sequence[Raw], limits: ConversationLimits) -> Steps[Conversation]:
    """Convert the messages of a request, in steps.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError: the body is no JSON, or is not in UTF-8.

    """
    left_out = Counter[str]()
    first = yield from _first_kept(messages, limits.messages)
    if first:
        left_out["message"] = first
    converter = _Converter(limits, left_out)
    for number, raw in enumerate(messages[first:], first):
        yield from converter.read(raw, number)
    return Conversation(tuple(converter.messages), left_out)


def _first_kept(messages: Sequence[Raw], most: int) -> Steps[int]:
    """Return the number of the first message to send: one of the user, if any are left out."""
    first = max(0, len(messages) - most)
    if not first:
        return 0
    for number in range(first, len(messages)):
        message = _decoded(messages[number])
        if message is not None and safe_json.short_string(message.role) == "user":
            return number
        yield
    return first


class _Converter:
    def __init__(self, limits: ConversationLimits, left_out: Counter[str]) -> None:
        self.messages: list[Message] = []
        self._limits = limits
        self._left_out = left_out
        self._call_ids: set[str] = set()

    def read(self, raw: Raw, number: int) -> Steps[None]:
        message = _decoded(raw)
        if message is None:
            self._left_out["malformed message"] += 1
            return
        message_id = safe_json.short_string(message.id) or f"message-{number}"
        parts = message.parts
        if parts is None:  # AI SDK 4, and other tools
            parts = [Raw(b'{"type":"text","text":%b}' % bytes(message.content or b'""'))]
        if len(parts) > PARTS_MAX:
            self._left_out["part"] += len(parts) - PARTS_MAX
            parts = parts[:PARTS_MAX]
        match safe_json.short_string(message.role):
            case "user":
                yield from self._user(message_id, parts)
            case "assistant":
                yield from self._assistant(message_id, parts)
            case "system" if self._limits.with_system:
                yield from self._system(message_id, parts)
            case "system":
                self._left_out["system message"] += 1
            case _:
                self._left_out["message of an unknown role"] += 1

    def _user(self, message_id: str, raw_parts: Sequence[Raw]) -> Steps[None]:
        parts: list[Text | File] = []
        for raw in raw_parts:
            part = _decoded_part(raw)
            match part.type:
                case "text":
                    parts += _texts(part)
                case "file":
                    parts += yield from self._files(raw)
                case kind:
                    self._leave_out(kind)
            yield
        if parts:
            self.messages.append(UserMessage(message_id, tuple(parts)))

    def _system(self, message_id: str, raw_parts: Sequence[Raw]) -> Steps[None]:
        texts: list[Text] = []
        for raw in raw_parts:
            part = _decoded_part(raw)
            if part.type == "text":
                texts += _texts(part)
            yield
        if texts:
            self.messages.append(SystemMessage(message_id, "".join(each.text for each in texts)))

    def _assistant(self, message_id: str, raw_parts: Sequence[Raw]) -> Steps[None]:
        step = _Step(message_id)
        for raw in raw_parts:
            part = _decoded_part(raw)
            match part.type:
                case "step-start":
                    step.end(self.messages)
                case "text":
                    step.say(self.messages, _texts(part))
                case "reasoning":
                    step.say(self.messages, [Reasoning(each.text) for each in _texts(part)])
                case "file":
                    step.say(self.messages, (yield from self._files(raw)))
                case kind if _is_tool(kind):
                    self._call(step, part)
                case kind:
                    self._leave_out(kind)
            yield
        step.end(self.messages)

    def _call(self, step: "_Step", part: _Part) -> None:
        name = safe_json.short_string(part.tool_name) or part.type.removeprefix("tool-")
        wanted = safe_json.short_string(part.tool_call_id)
        if wanted is None:
            self._left_out["call without an id"] += 1
            return
        call_id, count = wanted, 1
        while call_id in self._call_ids:
            count += 1
            call_id = f"{wanted}:{count}"
        self._call_ids.add(call_id)
        call = Call(call_id, name, _readable(part.input) or _readable(part.raw_input) or Raw(b"{}"))
        output, error, is_denied = _outcome(part)
        step.calls.append(call)
        step.results.append(Result(f"{call_id}:result", call_id, name, output, error, is_denied))

    def _files(self, raw: Raw) -> Steps[list[File]]:
        try:
            read = yield from attachments.read_in_steps([raw], self._limits.attachments)
        except (BadRequest, msgspec.ValidationError):
            self._left_out["file"] += 1
            return []
        return [File(attachment) for attachment in read]

    def _leave_out(self, kind: str) -> None:
        """Count a part, by one of a few words: the client makes up the types of its parts."""
        if kind.startswith("data-"):
            kind = "data"
        self._left_out[kind if kind in _LEFT_OUT else "part of an unknown type"] += 1


class _Step:
    """What an assistant said and called since the last call had its result."""

    def __init__(self, message_id: str) -> None:
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self._message_id = message_id
        self._parts: list[Text | Reasoning | File] = []
        self._count = 0

    def say(self, messages: list[Message], parts: Sequence[Text | Reasoning | File]) -> None:
        """Add parts. Behind a call they are of the next step."""
        if parts and self.calls:
            self.end(messages)
        self._parts += parts

    def end(self, messages: list[Message]) -> None:
        if not self._parts and not self.calls:
            return
        message_id = f"{self._message_id}:{self._count}" if self._count else self._message_id
        messages.append(AssistantMessage(message_id, tuple(self._parts), tuple(self.calls)))
        messages += self.results
        self._count += 1
        self._parts, self.calls, self.results = [], [], []


def _decoded(raw: Raw) -> _Message | None:
    try:
        return _message(raw)
    except msgspec.ValidationError:
        return None


def _decoded_part(raw: Raw) -> _Part:
    try:
        return _part(raw)
    except msgspec.ValidationError:
        return _Part("")


def _texts(part: _Part) -> list[Text]:
    """Return the text of a part; nothing if it is empty or no string."""
    text = safe_json.string(part.text)
    return [Text(text)] if text else []


def _is_tool(kind: str) -> bool:
    return kind == "dynamic-tool" or kind.startswith("tool-")


def _outcome(part: _Part) -> tuple[Raw | None, str | None, bool]:
    """Return the output of a call, or its error, and whether the user denied it."""
    match safe_json.short_string(part.state):
        case "output-available" if bytes(part.preliminary) != b"true":
            output = _readable(part.output)
            return (Raw(b"null") if output is None else output), None, False
        case "output-error":
            return None, safe_json.string(part.error_text) or NO_RESULT, False
        case "output-denied":
            return None, _decoded_approval(part.approval).reason or DENIED, True
        case "approval-responded":
            approval = _decoded_approval(part.approval)
            if approval.approved is False:
                return None, approval.reason or DENIED, True
            return None, NO_RESULT, False  # that it was approved is the client's word
        case _:
            return None, NO_RESULT, False


def _decoded_approval(raw: Raw) -> _Approval:
    try:
        return _approval(raw or b"{}")
    except msgspec.ValidationError:
        return _Approval()


def _readable(raw: Raw) -> Raw | None:
    """Return this JSON, if there is any. A decoder skips strings without a check of their UTF-8."""
    bytes(raw).decode()
    return raw.copy() if raw else None
