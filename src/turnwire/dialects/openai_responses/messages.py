"""Writes a conversation in the words of the Responses API: the `input` of a request.

Use: `write(message)` returns its items as JSON. docs/openai.md has the table of what becomes what;
it is made with this code.

Reasoning and files of the assistant are left out. A server takes back only reasoning that it
signed, which a client does not have.
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
"""Makes the words of an item in steps: yields an empty item after each, and returns them."""

_BETWEEN_TEXTS: Final = "\n\n"
"""A step of the assistant has one text on this wire. The client shows its texts as paragraphs."""

CALL_ID_MAX: Final = 64
"""Longest id of a call that OpenAI takes on this wire, in characters."""

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME_MAX: Final = 64
"""Model hosts refuse a whole conversation because of one name that is longer, or has others."""


class _TextPart(Struct, tag_field="type", tag="input_text"):
    text: str


class _Picture(Struct, tag_field="type", tag="input_image"):
    image_url: Raw
    detail: str = "auto"


class _File(Struct, tag_field="type", tag="input_file"):
    filename: str | UnsetType = UNSET
    file_data: Raw | UnsetType = UNSET
    file_url: str | UnsetType = UNSET


_Part: TypeAlias = _TextPart | _Picture | _File


class _Message(Struct, tag_field="type", tag="message"):
    role: str
    content: str | list[_Part]


class _FunctionCall(Struct, tag_field="type", tag="function_call"):
    call_id: str
    name: str
    arguments: Raw


class _CallOutput(Struct, tag_field="type", tag="function_call_output"):
    call_id: str
    output: Raw


_encode = msgspec.json.Encoder().encode


def write(message: Message) -> Iterator[bytes]:
    """Write a message. What is long is written in steps: an empty item ends one.

    Raises:
        UnsayableError: it has parts that this wire cannot say.

    """
    match message:
        case UserMessage(_, (Text(text),)):
            yield _encode(_Message("user", text))
        case UserMessage(_, parts):
            content: list[_Part] = []
            for part in parts:
                content += [(yield from _content(part))]
            yield _encode(_Message("user", content))
        case SystemMessage(_, text):
            yield _encode(_Message("system", text))
        case AssistantMessage(_, parts, calls):
            texts = _texts(parts)
            if texts:
                yield _encode(_Message("assistant", _BETWEEN_TEXTS.join(texts)))
            for call in calls:
                yield _encode((yield from _called(call)))
        case Result(_, call_id, _, output, error):
            sent_id = call_ids.mended(call_id, CALL_ID_MAX)
            if output is None:
                yield _encode(_CallOutput(sent_id, Raw(_encode(error or ""))))
            else:
                yield _encode(_CallOutput(sent_id, (yield from json_text.as_string(output))))
        case _:
            assert_never(message)


def is_call_of(item: bytes, call_id: str) -> bool:
    """Whether an item that was written is the call of this id."""
    sent_id = _encode(call_ids.mended(call_id, CALL_ID_MAX))
    return item.startswith(b'{"type":"function_call","call_id":%b,' % sent_id)


def _content(part: Text | File) -> Writing[_Part]:
    match part:
        case Text(text):
            return _TextPart(text)
        case File(attachment):
            if attachment.mime.startswith(("audio/", "video/")):
                raise UnsayableError("sound or film", [part])
            yield b""
            return _media(attachment)
        case _:
            assert_never(part)


def _media(attachment: Attachment) -> _Picture | _File:
    url = Raw(_encode(attachment.url))
    if attachment.mime.startswith("image/"):
        return _Picture(url)
    if attachment.url.startswith("data:"):
        return _File(filename=attachment.filename or "file", file_data=url)
    return _File(file_url=attachment.url)


def _texts(parts: tuple[Part, ...]) -> list[str]:
    """Return the texts of an assistant's message."""
    for kind, what in ((Reasoning, "reasoning"), (File, "file of the assistant")):
        if unsayable := [part for part in parts if isinstance(part, kind)]:
            raise UnsayableError(what, unsayable)
    return [part.text for part in parts if isinstance(part, Text)]


def _called(call: Call) -> Writing[_FunctionCall]:
    """Return a call. Its input is a JSON object in a string: servers read it, and refuse others."""
    name = _NOT_IN_A_NAME.sub("_", call.name)[:_NAME_MAX] or "_"
    arguments = yield from json_text.object_as_string(call.input)
    return _FunctionCall(call_ids.mended(call.call_id, CALL_ID_MAX), name, arguments)
