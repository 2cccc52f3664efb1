"""Writes a conversation as UI messages, and joins what was written: the `messages` of a request.

Use: `write(message)` returns items; `joined(items)` makes messages of them. docs/history.md has the
table of what becomes what; it is made with this code.

A UI message has a call and its result in one part, and all steps of an answer. A conversation comes
step by step, and results come after their calls. So a message of the assistant is written in pieces
(`PartsPiece`, `CallPiece`, `ResultPiece`), which `joined` puts together without reading them.

What useChat would send and this does not: reasoning, since only the provider's signature makes it
worth something, and no client was sent that; data parts, sources and metadata.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Self, assert_never

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import (
    AssistantMessage,
    Call,
    File,
    Message,
    Reasoning,
    Result,
    SystemMessage,
    Text,
    UnsayableError,
    UserMessage,
)

NO_RESULT: Final = "No result"

_encode = msgspec.json.Encoder().encode


class _TextPart(Struct, tag_field="type", tag="text"):
    text: str


class _FilePart(Struct, tag_field="type", tag="file", rename="camel", omit_defaults=True):
    media_type: str
    url: str
    filename: str | UnsetType = UNSET


class _Message(Struct):
    id: str
    role: str
    parts: list[_TextPart | _FilePart]


class PartsPiece(bytes):
    """The beginning of a step of the assistant: its parts, with commas between them."""

    message_id: str

    @classmethod
    def of(cls, message_id: str, parts: bytes) -> Self:
        piece = cls(parts)
        piece.message_id = message_id
        return piece


class CallPiece(bytes):
    """A part with a call, up to its state: the JSON of an object without its end."""

    call_id: str

    @classmethod
    def of(cls, call: Call) -> Self:
        fields = (
            b'"type":' + _encode(f"tool-{call.name}"),
            b'"toolCallId":' + _encode(call.call_id),
            b'"input":' + bytes(call.input),
        )
        piece = cls(b"{" + b",".join(fields))
        piece.call_id = call.call_id
        return piece


class ResultPiece(bytes):
    """The end of a part with a call: its state, and what came of it."""

    call_id: str

    @classmethod
    def of(cls, result: Result) -> Self:
        output = Raw() if result.output is None else result.output
        ending = b',"state":"output-available","output":' + bytes(output) + b"}"
        piece = cls(ending if result.error is None else _error(result.error))
        piece.call_id = result.call_id
        return piece


def write(message: Message) -> Iterator[bytes]:
    """Write a message, or the pieces of one.

    Raises:
        UnsayableError: it has parts that this wire cannot say.

    """
    match message:
        case UserMessage(message_id, parts):
            yield _encode(_Message(message_id, "user", [_part(part) for part in parts]))
        case SystemMessage(message_id, text):
            yield _encode(_Message(message_id, "system", [_TextPart(text)]))
        case AssistantMessage(message_id, parts, calls):
            reasoning = [part for part in parts if isinstance(part, Reasoning)]
            if reasoning:
                raise UnsayableError("reasoning", reasoning)
            shown = [_part(part) for part in parts if not isinstance(part, Reasoning)]
            begin = [b'{"type":"step-start"}', *map(_encode, shown)]
            yield PartsPiece.of(message_id, b",".join(begin))
            yield from map(CallPiece.of, calls)
        case Result():
            yield ResultPiece.of(message)
        case _:
            assert_never(message)


def joined(written: Iterable[bytes], open_: Mapping[str, bytes] | None = None) -> Sequence[bytes]:
    """Make messages of what was written.

    `open_` are, by the id of the call, whole parts of calls without a result. A call without either
    gets an error: no server takes a call that nothing came of.
    """
    return _Joining(open_ or {}).all(written)


class _Joining:
    """Puts the pieces of the assistant's messages together."""

    def __init__(self, open_: Mapping[str, bytes]) -> None:
        self._open = open_
        self._messages: list[bytes] = []
        self._message_id: str | None = None
        """The id of the open message of the assistant; None if there is none."""
        self._parts: list[bytes] = []
        self._calls: dict[str, int] = {}
        """Where in `_parts` the calls without an end are."""

    def all(self, written: Iterable[bytes]) -> Sequence[bytes]:
        for item in written:
            if isinstance(item, PartsPiece):
                self._begin_step(item)
            elif isinstance(item, CallPiece):
                self._add_call(item)
            elif isinstance(item, ResultPiece):
                self._end_call(item.call_id, item)
            else:
                self._close()
                self._messages.append(item)
        self._close()
        return self._messages

    def _begin_step(self, piece: PartsPiece) -> None:
        """A step goes on in the open message if its id is derived from that of the message."""
        if self._message_id is None or not piece.message_id.startswith(f"{self._message_id}:"):
            self._close()
            self._message_id = piece.message_id
        self._parts.append(piece)

    def _add_call(self, piece: CallPiece) -> None:
        """Add a call. One that is told again while it is open has another input now."""
        index = self._calls.setdefault(piece.call_id, len(self._parts))
        self._parts[index:] = [piece, *self._parts[index + 1 :]]

    def _end_call(self, call_id: str, ending: bytes) -> None:
        index = self._calls.pop(call_id, None)
        if index is not None:
            self._parts[index] += ending

    def _close(self) -> None:
        if self._message_id is None:
            return
        for call_id, index in self._calls.items():
            part = self._open.get(call_id)
            self._parts[index] = part or self._parts[index] + _error(NO_RESULT)
        self._calls.clear()
        head = b'{"id":' + _encode(self._message_id) + b',"role":"assistant","parts":['
        self._messages.append(head + b",".join(self._parts) + b"]}")
        self._message_id, self._parts = None, []


def _part(part: Text | File) -> _TextPart | _FilePart:
    if isinstance(part, Text):
        return _TextPart(part.text)
    attachment: Attachment = part.attachment
    return _FilePart(attachment.mime, attachment.url, attachment.filename or UNSET)


def _error(text: str) -> bytes:
    return b',"state":"output-error","errorText":' + _encode(text) + b"}"
