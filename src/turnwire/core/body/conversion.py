"""Converts the messages of a chat request for an agent that keeps no conversation.

Use: `convert_in_steps(messages, write, limits)` returns a `Conversation`: the client's messages as
turns of the user, of the assistant and of tools, in an order that model APIs take, in the words of
the wire that `write` knows.

What a client says of earlier turns is its own word. So nothing of it is refused: what cannot be
said is left out, and counted. Only a new prompt is refused. These rules hold on every wire:

* each step of an assistant's message that has calls is a message of its own, followed by the
  results of its calls; text behind a call begins a new step;
* a call without an outcome gets an error as its result, since model APIs refuse a call without one;
* an approval that stands in a message approves nothing: its call has no outcome, unless the caller
  knows it and names it as pending;
* ids are the client's own, or are derived from them, so that they are the same in each request, and
  no id of a message or of a call is used twice. An earlier message without an id has one of its
  place and its content. A new prompt without one gets one that no other request has: an agent that
  keeps the conversation would take it for another version of a message that it has;
* data parts, sources and empty messages are left out; system messages are, unless the limits say
  otherwise.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.body import attachments, ui_message
from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import (
    AssistantMessage,
    Call,
    Conversation,
    ConversationLimits,
    File,
    Message,
    Part,
    Reasoning,
    Result,
    SystemMessage,
    Text,
    UnsayableError,
    UserMessage,
    Write,
)
from turnwire.core.body.other_calls import OtherCalls
from turnwire.core.body.ui_message import TEXT_BYTES_MAX, UIPart
from turnwire.core.bounds import LONG_BYTES
from turnwire.core.steps import Steps
from turnwire.core.wire import call_ids
from turnwire.errors import BadRequest

PARTS_MAX: Final = 10_000
"""Most parts of a message that are read; of more, the last ones."""

_ID_BYTES: Final = 65_536
"""Most bytes of a message without an id that its id is made of."""

_UNKNOWN_PART: Final = "part of an unknown type"
_LEFT_OUT: Final = frozenset({"source-url", "source-document", "step-start"})
"""Types of parts that no agent takes back, beside those of data."""


def convert_in_steps(
    messages: Sequence[Raw],
    write: Write,
    limits: ConversationLimits,
    *,
    pending: Collection[str] = (),
    prompt_files: Sequence[Attachment] | None = None,
    prompt_texts: Sequence[str] | None = None,
    prompt_id: str | None = None,
    first: int = 0,
    replaced: int = 0,
) -> Steps[Conversation]:
    """Convert the messages of a request from number `first` on, in steps.

    `pending` are the ids of the calls that wait for an approval in the last message. If that is a
    new prompt, `prompt_files` are its files, which were checked, `prompt_texts` are its texts if it
    has nothing else, and `prompt_id` is its id if the client gave it none. `replaced` halves of
    characters were replaced in the messages.

    Raises:
        BadRequest: the wire has no words for a part of the new prompt.
        msgspec.DecodeError, UnicodeDecodeError: the body is no JSON, or is not in UTF-8.

    """
    kept = first
    if len(messages) > limits.messages:
        kept = max(first, (yield from _first_kept(messages, limits.messages)))
    converter = _Converter(write, limits, pending)
    if kept > first:
        converter.left_out["message"] = kept - first
    if replaced:
        converter.left_out["half of a character"] = replaced
    for number in range(kept, len(messages)):
        made_id = None
        if number == len(messages) - 1:
            converter.begin_last(pending, prompt_files, prompt_texts)
            made_id = prompt_id
        yield from converter.read(messages[number], number, made_id)
    return Conversation(
        converter.written,
        converter.left_out,
        converter.open_calls,
        tuple(converter.other_calls.unresolved.values()),
        converter.other_calls.settled,
    )


def _first_kept(messages: Sequence[Raw], most: int) -> Steps[int]:
    """Return the number of the first message to send: one of the user, if any are left out."""
    first = len(messages) - most
    for number in range(first, len(messages)):
        message = ui_message.decoded(messages[number])
        if message is not None and safe_json.short_string(message.role) == "user":
            return number
        yield
    return first


class _Converter:
    def __init__(self, write: Write, limits: ConversationLimits, pending: Collection[str]) -> None:
        self.written: list[bytes] = []
        self.left_out = defaultdict[str, int](int)
        self.open_calls: list[Call] = []
        self.other_calls = OtherCalls(pending)
        self._write = write
        self._limits = limits
        self._message_ids: dict[str, int] = {}
        self._call_ids = dict.fromkeys(pending, 1)
        self._is_last = False
        self._pending: set[str] = set()
        """The calls without a result that are not written; empty before the last message."""
        self._prompt_files: Iterator[Attachment] | None = None
        """The files of the new prompt that are not written; None before the prompt."""
        self._prompt_texts: Sequence[str] | None = None
        """The texts of the new prompt if it has nothing else: it is not read again."""

    def begin_last(
        self,
        pending: Collection[str],
        prompt_files: Sequence[Attachment] | None,
        prompt_texts: Sequence[str] | None,
    ) -> None:
        """Note what is known of the last message, which is read next."""
        self._is_last, self._prompt_texts = True, prompt_texts
        self._pending = set(pending)
        self._prompt_files = None if prompt_files is None else iter(prompt_files)

    def read(self, raw: Raw, number: int, made_id: str | None) -> Steps[None]:
        """Convert a message, whose id is `made_id` if the client gave it none."""
        message = ui_message.decoded(raw)
        if len(raw) > LONG_BYTES:
            yield
        if message is None:
            self.left_out["malformed message"] += 1
            return
        message_id = safe_json.short_string(message.id) or made_id or _id_of(raw, number)
        if self._prompt_texts is not None:
            texts = tuple([Text(text) for text in self._prompt_texts if text])
            yield from self._add(UserMessage(self._new_id(message_id), texts))
            return
        parts = message.parts
        if parts is None:  # AI SDK 4, and other tools
            parts = [Raw(b'{"type":"text","text":%b}' % bytes(message.content or b'""'))]
        if len(parts) > PARTS_MAX:
            self.left_out["part"] += len(parts) - PARTS_MAX
            parts = parts[-PARTS_MAX:]
        match safe_json.short_string(message.role):
            case "user":
                yield from self._user(message_id, parts)
            case "assistant":
                yield from self._assistant(message_id, parts)
            case "system" if self._limits.with_system:
                yield from self._system(message_id, parts)
            case "system":
                self.left_out["system message"] += 1
            case _:
                self.left_out["message of an unknown role"] += 1
        yield

    def _user(self, message_id: str, raw_parts: Sequence[Raw]) -> Steps[None]:
        parts: list[Text | File] = []
        for raw in raw_parts:
            part = ui_message.decoded_part(raw)
            if len(raw) > LONG_BYTES:
                yield
            match part.type:
                case "text":
                    parts += self._texts(part)
                case "file":
                    parts += yield from self._files(raw)
                case kind:
                    self._leave_out(kind)
            yield
        if parts:
            yield from self._add(UserMessage(self._new_id(message_id), tuple(parts)))

    def _system(self, message_id: str, raw_parts: Sequence[Raw]) -> Steps[None]:
        texts: list[Text] = []
        for raw in raw_parts:
            part = ui_message.decoded_part(raw)
            if part.type == "text":
                texts += self._texts(part)
            yield
        if texts:
            text = "".join(each.text for each in texts)
            yield from self._add(SystemMessage(self._new_id(message_id), text))

    def _assistant(self, message_id: str, raw_parts: Sequence[Raw]) -> Steps[None]:
        step = _Step(message_id)
        for raw in raw_parts:
            part = ui_message.decoded_part(raw)
            if len(raw) > LONG_BYTES:
                yield
            new_parts: list[Part] = []
            match part.type:
                case "step-start":
                    yield from self._end(step)
                case "text":
                    new_parts += self._texts(part)
                case "reasoning":
                    new_parts += [Reasoning(each.text) for each in self._texts(part)]
                case "file":
                    new_parts += yield from self._files(raw)
                case kind if ui_message.is_tool(kind):
                    yield from self._call(step, part)
                case kind:
                    self._leave_out(kind)
            if new_parts and step.calls:  # what is behind a call is of the next step
                yield from self._end(step)
            step.parts += new_parts
            yield
        yield from self._end(step)

    def _call(self, step: "_Step", part: UIPart) -> Steps[None]:
        name = safe_json.short_string(part.tool_name) or part.type.removeprefix("tool-")
        wanted = call_ids.of(part.tool_call_id)
        if not wanted:
            self.left_out["call without an id"] += 1
            return
        is_pending = wanted in self._pending
        call_id = wanted if is_pending else _unused(wanted, self._call_ids)
        given = yield from ui_message.readable_in_steps(part.input or part.raw_input)
        call = Call(call_id, name, given or Raw(b"{}"))
        step.calls.append(call)
        if is_pending:
            self._pending.discard(wanted)
            self.open_calls.append(call)
            return
        outcome = yield from ui_message.outcome_in_steps(part)
        if self._is_last:
            is_error = safe_json.short_string(part.state) == "output-error"
            self.other_calls.add(call, wanted, outcome, is_error=is_error)
        step.results.append(
            Result(
                f"{call_id}:result",
                call_id,
                name,
                outcome.output,
                outcome.error,
                outcome.is_denied,
            )
        )

    def _end(self, step: "_Step") -> Steps[None]:
        """Write a step, and empty it."""
        if not step.parts and not step.calls:
            return
        parts, calls, results = tuple(step.parts), tuple(step.calls), step.results
        message = AssistantMessage(self._new_id(step.next_id()), parts, calls)
        step.clear()
        is_written = yield from self._add(message)
        for result in results if is_written else ():
            yield
            result_id, place = self._new_id(result.message_id), len(self.written)
            yield from self._add(msgspec.structs.replace(result, message_id=result_id))
            if len(self.written) == place + 1:
                self.other_calls.was_written(result.call_id, place)

    def _add(self, message: Message) -> Steps[bool]:
        """Write a message without the parts that the wire cannot say. False: nothing is left."""
        while True:
            try:
                for item in self._write(message):
                    if item:
                        self.written.append(item)
                    else:
                        yield
            except UnsayableError as problem:
                if self._prompt_files is not None:
                    raise _refused(problem.kind) from problem
                self.left_out[problem.kind] += max(1, len(problem.parts))
                rest = _without(message, problem.parts)
                if rest is None:
                    return False
                message = rest
            else:
                return True

    def _texts(self, part: UIPart) -> list[Text]:
        """Return the text of a part; nothing if it is empty, too long or no string."""
        if len(part.text) > TEXT_BYTES_MAX:
            self.left_out["long text"] += 1
            return []
        text = safe_json.string(part.text)
        return [Text(text)] if text else []

    def _files(self, raw: Raw) -> Steps[list[File]]:
        if self._prompt_files is not None:
            return [File(next(self._prompt_files))]
        try:
            read = yield from attachments.read_in_steps([raw], self._limits.attachments)
        except (BadRequest, msgspec.ValidationError):
            self.left_out["file"] += 1
            return []
        return [File(attachment) for attachment in read]

    def _leave_out(self, kind: str) -> None:
        """Count a part, by one of a few words: the client makes up the types of its parts."""
        if kind.startswith("data-"):
            kind = "data"
        elif kind not in _LEFT_OUT:
            kind = _UNKNOWN_PART
            if self._prompt_files is not None:
                raise _refused(kind)
        self.left_out[kind] += 1

    def _new_id(self, wanted: str) -> str:
        return _unused(wanted, self._message_ids)


class _Step:
    """What an assistant said and called since the last call had its result."""

    def __init__(self, message_id: str) -> None:
        self._message_id = message_id
        self._count = 0
        self.clear()

    def clear(self) -> None:
        self.parts: list[Part] = []
        self.calls: list[Call] = []
        self.results: list[Result] = []

    def next_id(self) -> str:
        """Return the id of the next step of the message. The first one has the message's own."""
        self._count += 1
        return f"{self._message_id}:{self._count - 1}" if self._count > 1 else self._message_id


def _id_of(raw: Raw, number: int) -> str:
    """Return the id of a message without one: the same in each request that has it there.

    Other conversations have other messages there, so it seldom is that of one of theirs.
    """
    digest = hashlib.sha256(memoryview(raw)[:_ID_BYTES]).hexdigest()
    return f"message-{number}-{digest[:16]}"


def _refused(kind: str) -> BadRequest:
    return BadRequest(f"This agent cannot be sent what the prompt has: {kind}")


def _without(message: Message, parts: Collection[Part]) -> Message | None:
    """Return a message without some of its parts; None if nothing is left of it."""
    if not parts or isinstance(message, SystemMessage | Result):
        return None
    dropped = set(map(id, parts))
    kept = [part for part in message.parts if id(part) not in dropped]
    if not kept and (isinstance(message, UserMessage) or not message.calls):
        return None
    return msgspec.structs.replace(message, parts=tuple(kept))


def _unused(wanted: str, used: dict[str, int]) -> str:
    """Return this id, or one made of it that is not used yet. It is used from now on.

    The value of an id is the number of those that were made of it.
    """
    if wanted not in used:
        used[wanted] = 1
        return wanted
    while (unused := f"{wanted}:{used[wanted] + 1}") in used:
        used[wanted] += 1
    used[wanted] += 1
    used[unused] = 1
    return unused
