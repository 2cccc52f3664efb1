"""Writes a conversation in the words of AG-UI: the `messages` of a run's input.

Use: `write(message)` returns the message as JSON. docs/history.md has the table of what becomes
what; it is made with this code.

Two kinds of parts are left out, since this wire or its servers have no use for them:

* reasoning. The protocol has a role for it, but one server fails the whole run because of such a
  message, several drop it, and a model host takes back only reasoning that it signed;
* files of the assistant. The content of its messages is text.
"""

from collections.abc import Generator, Iterable, Iterator
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
from turnwire.core.wire import json_text

_Words = TypeVar("_Words")

Writing: TypeAlias = Generator[bytes, None, _Words]
"""Makes the words of a message in steps: yields an empty item after each, and returns them."""

_BETWEEN_TEXTS: Final = "\n\n"
"""A step of the assistant has one text on this wire. The client shows its texts as paragraphs."""


class _Source(Struct, rename="camel", tag_field="type"):
    value: Raw
    mime_type: str


class _Data(_Source, tag="data"):
    """`value` is base64."""


class _Url(_Source, tag="url"):
    pass


class _TextPart(Struct, tag_field="type", tag="text"):
    text: str


class _Named(Struct):
    filename: str


class _Media(Struct, omit_defaults=True):
    type: str
    source: _Data | _Url
    metadata: _Named | UnsetType = UNSET


class _User(Struct, tag_field="role", tag="user"):
    id: str
    content: str | list[_TextPart | _Media]


class _System(Struct, tag_field="role", tag="system"):
    id: str
    content: str


class _Function(Struct):
    name: str
    arguments: Raw


class _ToolCall(Struct, tag_field="type", tag="function"):
    id: str
    function: _Function


class _Assistant(Struct, tag_field="role", tag="assistant", rename="camel", omit_defaults=True):
    id: str
    content: str | UnsetType = UNSET
    tool_calls: list[_ToolCall] | UnsetType = UNSET


class _Tool(Struct, tag_field="role", tag="tool", rename="camel", omit_defaults=True):
    id: str
    tool_call_id: str
    content: Raw
    error: str | UnsetType = UNSET


_encode = msgspec.json.Encoder().encode


def write(message: Message) -> Iterable[bytes]:
    """Write a message. What is long is written in steps: an empty item ends one.

    Raises:
        UnsayableError: it has parts that this wire cannot say.

    """
    if isinstance(message, UserMessage) and len(message.parts) == 1:  # nearly all prompts
        part = message.parts[0]
        if isinstance(part, Text):
            return (_encode(_User(message.message_id, part.text)),)
    return _in_steps(message)


def _in_steps(message: Message) -> Iterator[bytes]:
    yield _encode((yield from _words(message)))


def _words(message: Message) -> Writing[_User | _System | _Assistant | _Tool]:
    match message:
        case UserMessage(message_id, parts):
            content: list[_TextPart | _Media] = []
            for part in parts:
                content += [(yield from _content(part))]
            return _User(message_id, content)
        case SystemMessage(message_id, text):
            return _System(message_id, text)
        case AssistantMessage(message_id, parts, calls):
            texts = _texts(parts)
            tool_calls: list[_ToolCall] = []
            for call in calls:
                tool_calls += [(yield from _tool_call(call))]
            return _Assistant(
                message_id, _BETWEEN_TEXTS.join(texts) if texts else UNSET, tool_calls or UNSET
            )
        case Result(message_id, call_id, _, output, error):
            if output is not None:
                return _Tool(message_id, call_id, (yield from json_text.as_string(output)))
            return _Tool(message_id, call_id, Raw(_encode(error or "")), error or "")
        case _:
            assert_never(message)


def _content(part: Text | File) -> Writing[_TextPart | _Media]:
    match part:
        case Text(text):
            return _TextPart(text)
        case File(attachment):
            return (yield from _media(attachment))
        case _:
            assert_never(part)


def _media(attachment: Attachment) -> Writing[_Media]:
    kind = attachment.mime.partition("/")[0]
    source: _Data | _Url
    if attachment.url.startswith("data:"):
        source = _Data((yield from _base64(attachment.url)), attachment.mime)
    else:
        source = _Url(Raw(_encode(attachment.url)), attachment.mime)
    return _Media(
        kind if kind in {"image", "audio", "video"} else "document",
        source,
        _Named(attachment.filename) if attachment.filename else UNSET,
    )


def _base64(url: str) -> Writing[Raw]:
    """Return the data of a `data:` URL as a string of JSON. Base64 needs no escapes."""
    data = url[url.index(",") + 1 :].encode()
    yield b""
    return Raw(b'"%b"' % data)


def _texts(parts: tuple[Part, ...]) -> list[str]:
    """Return the texts of an assistant's message."""
    for kind, what in ((Reasoning, "reasoning"), (File, "file of the assistant")):
        if unsayable := [part for part in parts if isinstance(part, kind)]:
            raise UnsayableError(what, unsayable)
    return [part.text for part in parts if isinstance(part, Text)]


def _tool_call(call: Call) -> Writing[_ToolCall]:
    """Return a call. Its input is JSON in a string.

    An input that is a string was no JSON when the model made it: it is sent as it was.
    """
    return _ToolCall(
        call.call_id, _Function(call.name, (yield from json_text.as_string(call.input)))
    )
