"""Writes a conversation in the words of AG-UI: the `messages` of a run's input.

Use: `write(message)` returns the message as JSON. docs/history.md has the table of what becomes
what; it is made with this code.

Two kinds of parts are left out, since this wire or its servers have no use for them:

* reasoning. The protocol has a role for it, but one server fails the whole run because of such a
  message, several drop it, and a model host takes back only reasoning that it signed;
* files of the assistant. The content of its messages is text.
"""

from typing import Final, assert_never

import msgspec
from msgspec import UNSET, Struct, UnsetType

from turnwire.core import safe_json
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

_BETWEEN_TEXTS: Final = "\n\n"
"""A step of the assistant has one text on this wire. The client shows its texts as paragraphs."""


class _Source(Struct, rename="camel", tag_field="type"):
    value: str
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
    arguments: str


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
    content: str
    error: str | UnsetType = UNSET


_encode = msgspec.json.Encoder().encode


def write(message: Message) -> tuple[bytes]:
    """Write a message.

    Raises:
        UnsayableError: it has parts that this wire cannot say.

    """
    return (_encode(_words(message)),)


def _words(message: Message) -> _User | _System | _Assistant | _Tool:
    match message:
        case UserMessage(message_id, (Text(text),)):
            return _User(message_id, text)
        case UserMessage(message_id, parts):
            return _User(message_id, [_content(part) for part in parts])
        case SystemMessage(message_id, text):
            return _System(message_id, text)
        case AssistantMessage(message_id, parts, calls):
            texts = _texts(parts)
            return _Assistant(
                message_id,
                _BETWEEN_TEXTS.join(texts) if texts else UNSET,
                [_tool_call(call) for call in calls] if calls else UNSET,
            )
        case Result(message_id, call_id, _, output, error):
            if output is not None:
                return _Tool(message_id, call_id, _as_text(output))
            return _Tool(message_id, call_id, error or "", error or "")
        case _:
            assert_never(message)


def _content(part: Text | File) -> _TextPart | _Media:
    match part:
        case Text(text):
            return _TextPart(text)
        case File(attachment):
            return _media(attachment)
        case _:
            assert_never(part)


def _media(attachment: Attachment) -> _Media:
    kind = attachment.mime.partition("/")[0]
    url = attachment.url
    return _Media(
        kind if kind in {"image", "audio", "video"} else "document",
        _Data(url[url.index(",") + 1 :], attachment.mime)
        if url.startswith("data:")
        else _Url(url, attachment.mime),
        _Named(attachment.filename) if attachment.filename else UNSET,
    )


def _texts(parts: tuple[Part, ...]) -> list[str]:
    """Return the texts of an assistant's message."""
    for kind, what in ((Reasoning, "reasoning"), (File, "file of the assistant")):
        if unsayable := [part for part in parts if isinstance(part, kind)]:
            raise UnsayableError(what, unsayable)
    return [part.text for part in parts if isinstance(part, Text)]


def _tool_call(call: Call) -> _ToolCall:
    """Return a call. Its input is JSON in a string.

    An input that is a string was no JSON when the model made it: it is sent as it was.
    """
    return _ToolCall(call.call_id, _Function(call.name, _as_text(call.input)))


def _as_text(raw: msgspec.Raw) -> str:
    """Return a string as itself, and any other JSON as JSON: what the events of a run do too."""
    text = safe_json.string(raw)
    return bytes(raw).decode() if text is None else text
