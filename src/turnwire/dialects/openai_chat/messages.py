"""Writes a conversation in the words of Chat Completions: the `messages` of a request.

Use: `write(message)` returns the message as JSON. docs/history.md has the table of what becomes
what; it is made with this code.

Reasoning and files of the assistant are left out: the wire has no words for them.
"""

import re
from collections.abc import Generator, Iterator
from typing import Final, TypeAlias, TypeVar, assert_never

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import (
    AssistantMessage,
    Call,
    File,
    Message,
    Part,
    Reasoning,
    Result,
    SystemMessage,
    Text,
    UnsayableError,
    UserMessage,
)
from turnwire.core.wire import call_ids, json_text

_Words = TypeVar("_Words")

Writing: TypeAlias = Generator[bytes, None, _Words]
"""Makes the words of a message in steps: yields an empty item after each, and returns them."""

_BETWEEN_TEXTS: Final = "\n\n"
"""A step of the assistant has one text on this wire. The client shows its texts as paragraphs."""

CALL_ID_MAX: Final = 40
"""Longest id of a call that OpenAI takes on this wire, in characters."""

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME_MAX: Final = 64
"""Model hosts refuse a whole conversation because of one name that is longer, or has others."""

_SOUNDS: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


class _TextPart(Struct, tag_field="type", tag="text"):
    text: str


class _Url(Struct):
    url: Raw


class _Picture(Struct, tag_field="type", tag="image_url"):
    image_url: _Url


class _Sound(Struct):
    data: Raw
    format: str


class _Audio(Struct, tag_field="type", tag="input_audio"):
    input_audio: _Sound


class _Contents(Struct):
    filename: str
    file_data: Raw


class _File(Struct, tag_field="type", tag="file"):
    file: _Contents


_Part: TypeAlias = _TextPart | _Picture | _Audio | _File


class _User(Struct, tag_field="role", tag="user"):
    content: str | list[_Part]


class _System(Struct, tag_field="role", tag="system"):
    content: str


class _Function(Struct):
    name: str
    arguments: Raw


class _ToolCall(Struct, tag_field="type", tag="function"):
    id: str
    function: _Function


class _Assistant(Struct, tag_field="role", tag="assistant"):
    content: str | None
    tool_calls: list[_ToolCall] | UnsetType = UNSET


class _Tool(Struct, tag_field="role", tag="tool"):
    tool_call_id: str
    content: Raw


_encode = msgspec.json.Encoder().encode


def write(message: Message) -> Iterator[bytes]:
    """Write a message. What is long is written in steps: an empty item ends one.

    Raises:
        UnsayableError: it has parts that this wire cannot say.

    """
    yield _encode((yield from _words(message)))


def _words(message: Message) -> Writing[_User | _System | _Assistant | _Tool]:
    match message:
        case UserMessage(_, (Text(text),)):
            return _User(text)
        case UserMessage(_, parts):
            content: list[_Part] = []
            for part in parts:
                content += [(yield from _content(part))]
            return _User(content)
        case SystemMessage(_, text):
            return _System(text)
        case AssistantMessage(_, parts, calls):
            texts = _texts(parts)
            tool_calls: list[_ToolCall] = []
            for call in calls:
                tool_calls += [(yield from _tool_call(call))]
            return _Assistant(_BETWEEN_TEXTS.join(texts) if texts else None, tool_calls or UNSET)
        case Result(_, call_id, _, output, error):
            sent_id = call_ids.mended(call_id, CALL_ID_MAX)
            if output is not None:
                return _Tool(sent_id, (yield from json_text.as_string(output)))
            return _Tool(sent_id, Raw(_encode(error or "")))
        case _:
            assert_never(message)


def _content(part: Text | File) -> Writing[_Part]:
    match part:
        case Text(text):
            return _TextPart(text)
        case File(attachment):
            if not attachment.url.startswith("data:") and not _is_picture(attachment):
                raise UnsayableError("link to a file that is no picture", [part])
            yield b""
            return _media(attachment)
        case _:
            assert_never(part)


def _is_picture(attachment: Attachment) -> bool:
    return attachment.mime.startswith("image/")


def _media(attachment: Attachment) -> _Picture | _Audio | _File:
    if _is_picture(attachment):
        return _Picture(_Url(Raw(_encode(attachment.url))))
    if attachment.mime in _SOUNDS:
        data = attachment.url[attachment.url.index(",") + 1 :]
        return _Audio(_Sound(Raw(_encode(data)), _SOUNDS[attachment.mime]))
    name = attachment.filename or "file"
    return _File(_Contents(name, Raw(_encode(attachment.url))))


def _texts(parts: tuple[Part, ...]) -> list[str]:
    """Return the texts of an assistant's message."""
    for kind, what in ((Reasoning, "reasoning"), (File, "file of the assistant")):
        if unsayable := [part for part in parts if isinstance(part, kind)]:
            raise UnsayableError(what, unsayable)
    return [part.text for part in parts if isinstance(part, Text)]


def _tool_call(call: Call) -> Writing[_ToolCall]:
    """Return a call. Its input is a JSON object in a string: servers read it, and refuse others."""
    name = _NOT_IN_A_NAME.sub("_", call.name)[:_NAME_MAX]
    arguments = yield from json_text.object_as_string(call.input)
    return _ToolCall(call_ids.mended(call.call_id, CALL_ID_MAX), _Function(name or "_", arguments))
