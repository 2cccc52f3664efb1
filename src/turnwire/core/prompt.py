"""A request's body to what it asks: every form that clients send, and a reason for every other.

The agent owns the history, so only the last message is read. Forms (measured;
wire/ui-message-stream 4.1): `{"messages": [...]}` and `{"message": {...}}`; a
message has `parts` (AI SDK 5 and later) or `content` as a string (AI SDK 4 and
third-party tools). A message of the user is a prompt; one of the assistant is a
continuation (`continuation`).
"""

import itertools
import re
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import attachments, continuation, harmless
from turnwire.core.attachments import Attachment, AttachmentLimits
from turnwire.core.bounds import Word
from turnwire.core.continuation import Continuation
from turnwire.errors import BadRequest

TEXT_MAX = 100_000
"""Longest prompt, in characters (code points)."""

DEPTH_MAX = 64
"""Deepest nesting of a body."""

VALUES_MAX = 200_000
"""Most values in a body: each costs memory and time, and a conversation has far fewer."""

PARTS_MAX = 1_000
"""Most parts of a message."""

_SEARCHED_MAX = 1_000
"""Messages that are searched, from the end, for the user's last one."""

_Id = Annotated[str, Meta(max_length=512)]
_LIMITS = AttachmentLimits()

_ONE_KIND = bytes.maketrans(b"[]", b"{}")
_NOT_READ = bytes(set(range(256)) - set(b'[]{}"'))
_NOT_COUNTED = bytes(set(range(256)) - set(b',"'))
_STRING = re.compile(rb'"[^"]*+"')
_OPENING = ord("{")
_RUN = re.compile(rb"\{++|\}++")


class Prompt(Struct, frozen=True):
    """What the user asked. `message_id` is the client's id of the message.

    `regenerates`: it was asked before, and its answer is not wanted. `replaces`
    is the client's id of the message that this goes in place of, where it names
    one: that answer, or the prompt's own id if the user edited it. `chat_id` is
    the client's own id of the conversation.
    """

    text: str
    message_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    regenerates: bool = False
    replaces: str | None = None
    chat_id: str | None = None

    @property
    def size(self) -> int:
        """About how much memory it takes, in bytes."""
        size = len(self.text)
        for file in self.attachments:
            size += len(file.url)
        return size


class _Message(Struct):
    role: Word
    id: _Id | None = None
    parts: Annotated[list[Raw], Meta(max_length=VALUES_MAX)] | None = None
    content: Raw = Raw()


class _Body(Struct, rename="camel"):
    messages: Annotated[list[Raw], Meta(max_length=VALUES_MAX)] | None = None
    message: Raw = Raw()
    trigger: Raw = Raw()
    message_id: _Id | None = None
    id: Raw = Raw()

    @property
    def regenerates(self) -> bool:
        """Any other string is `submit-message`; anything that is no string is a wrong type."""
        return bool(self.trigger) and _string(self.trigger) == "regenerate-message"


class _Part(Struct):
    type: Word
    text: Raw = Raw()


_body = msgspec.json.Decoder(_Body).decode
_message = msgspec.json.Decoder(_Message).decode
_part = msgspec.json.Decoder(_Part).decode
_string = msgspec.json.Decoder(str).decode


def extract(body: bytes, limits: AttachmentLimits = _LIMITS) -> Prompt | Continuation:
    """Read what a request's body asks.

    Raises:
        BadRequest: nothing that can be sent.

    """
    if not body:
        raise BadRequest("The body is empty")
    try:
        return _extract(body, limits)
    except msgspec.ValidationError as exc:
        raise BadRequest("The body has a field of a wrong type, or lacks one") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise BadRequest("The body is not valid JSON, or cuts a character in two") from exc
    except RecursionError as exc:
        raise BadRequest(_too_deep()) from exc


def _too_deep() -> str:
    return f"The body is nested deeper than {DEPTH_MAX}"


def _extract(raw: bytes, limits: AttachmentLimits) -> Prompt | Continuation:
    if _values(raw) > VALUES_MAX:
        raise BadRequest("The body has too many values")
    body = _body(raw)
    if _deeper(raw, DEPTH_MAX):
        raise BadRequest(_too_deep())
    message = _last(body)
    match message.role:
        case "user":
            return _prompt(body, message, limits)
        case "assistant":
            message_id = message.id or body.message_id or None
            chat_id = harmless.short(body.id)
            return continuation.read(message_id, message.parts or (), chat_id)
        case _:
            raise BadRequest("The last message is neither the user's nor the assistant's")


def _last(body: _Body) -> _Message:
    if body.messages:
        if body.regenerates:
            return _last_of_user(body.messages)
        return _message(body.messages[-1])
    if body.messages is None and body.message:
        return _message(body.message)
    raise BadRequest("The body has no messages")


def _last_of_user(messages: list[Raw]) -> _Message:
    for raw in reversed(messages[-_SEARCHED_MAX:]):
        message = _message(raw)
        if message.role == "user":
            return message
    raise BadRequest("There is no message of the user to send again")


def _prompt(body: _Body, message: _Message, limits: AttachmentLimits) -> Prompt:
    text, files = _content(message)
    if not text.strip() and not files:
        raise BadRequest("The prompt is empty")
    if len(text) > TEXT_MAX:
        raise BadRequest(f"The prompt is longer than {TEXT_MAX} characters")
    # A client names the answer that it wants anew, or this very message if it was edited.
    names_itself = body.message_id == message.id
    return Prompt(
        text,
        message.id or None,
        attachments.read(files, limits),
        body.regenerates,
        (body.message_id or None) if body.regenerates is not names_itself else None,
        harmless.short(body.id),
    )


def _content(message: _Message) -> tuple[str, list[Raw]]:
    """The text of a message, and the parts that are its files."""
    if message.parts is None:
        if not message.content:
            raise BadRequest("The last message has neither parts nor content")
        return _string(message.content), []
    if len(message.parts) > PARTS_MAX:
        raise BadRequest("The last message has too many parts")
    texts: list[str] = []
    files: list[Raw] = []
    for raw in message.parts:
        part = _part(raw)
        match part.type:
            case "text":
                texts.append(_string(part.text or b"null"))
            case "file":
                files.append(raw)
            case _:
                pass
    return "".join(texts), files


def _values(raw: bytes) -> int:
    """The values in JSON, or less if they are few: commas outside of strings."""
    commas = raw.count(b",")
    if commas <= VALUES_MAX:
        return commas
    read = _unescaped(raw).translate(None, _NOT_COUNTED).replace(b'""', b"")
    return _STRING.sub(b"", read).count(b",")


def _unescaped(raw: bytes) -> bytes:
    """JSON whose quotation marks all begin or end a string."""
    return raw.replace(rb"\\", b"").replace(rb"\"", b"")


def _deeper(raw: bytes, limit: int) -> bool:
    """Whether valid JSON is nested deeper than `limit`.

    A body of 16 MiB of brackets must not hold the event loop for seconds. So
    the levels are taken away in C, the innermost first, while that shortens
    what is left; what it no longer shortens is made of long runs of brackets.
    """
    if raw.count(b"[") + raw.count(b"{") <= limit:
        return False
    read = _unescaped(raw).translate(_ONE_KIND, _NOT_READ).replace(b'""', b"")
    brackets = _STRING.sub(b"", read)
    levels = 0
    while brackets:
        left = brackets.replace(b"{}", b"")
        levels += 1
        if len(left) > len(brackets) * 7 // 8:
            return levels + _deepest(left) > limit
        brackets = left
    return levels > limit


def _deepest(brackets: bytes) -> int:
    lengths = (len(run) if run[0] == _OPENING else -len(run) for run in _RUN.findall(brackets))
    return max(itertools.accumulate(lengths))
