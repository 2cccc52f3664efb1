"""A request's body to what it asks: every form that clients send, and a reason for every other.

The agent owns the history, so only the last message is read. Forms (measured;
wire/ui-message-stream 4.1): `{"messages": [...]}` and `{"message": {...}}`; a
message has `parts` (AI SDK 5 and later) or `content` as a string (AI SDK 4 and
third-party tools). A message of the user is a prompt; one of the assistant is a
continuation (`continuation`).
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import attachments, continuation, harmless
from turnwire.core.attachments import Attachment, AttachmentLimits
from turnwire.core.bounds import ID_MAX, LONG_BYTES, WORD_MAX
from turnwire.core.census import TooDeepError, TooManyError, census
from turnwire.core.continuation import Continuation
from turnwire.core.steps import Steps, whole
from turnwire.errors import BadRequest

TEXT_MAX = 100_000
"""Longest prompt, in characters (code points)."""

DEPTH_MAX = 64
"""Deepest nesting of a body."""

VALUES_MAX = 200_000
"""Most messages and parts of a body: each costs memory and time, and a conversation has fewer."""

PARTS_MAX = 1_000
"""Most parts of a message."""

_SEARCHED_MAX = 1_000
"""Messages that are searched, from the end, for the user's last one."""

_LIMITS = AttachmentLimits()

_COUNTED: Final = 4
"""How deep the values of a body are counted: its messages, and their parts."""

_CHARACTER_BYTES: Final = 12
"""The longest spelling of a character: two escapes."""

_MARKS: Final = 2
"""The quotation marks."""


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
    role: Raw
    id: Raw = Raw()
    parts: Annotated[list[Raw], Meta(max_length=VALUES_MAX)] | None = None
    content: Raw = Raw()


class _Body(Struct, rename="camel"):
    messages: Annotated[list[Raw], Meta(max_length=VALUES_MAX)] | None = None
    message: Raw = Raw()
    trigger: Raw = Raw()
    message_id: Raw = Raw()
    id: Raw = Raw()

    @property
    def regenerates(self) -> bool:
        """Any other string is `submit-message`; anything that is no string is a wrong type."""
        return bool(self.trigger) and _text(self.trigger, WORD_MAX) == "regenerate-message"


class _Part(Struct):
    type: Raw
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
    return whole(reading(body, limits))


def reading(body: bytes, limits: AttachmentLimits) -> Steps[Prompt | Continuation]:
    """The same, in steps: a long body takes a while, whatever is in it."""
    if not body:
        raise BadRequest("The body is empty")
    try:
        return (yield from _reading(body, limits))
    except msgspec.ValidationError as exc:
        raise BadRequest("The body has a field of a wrong type, or lacks one") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise BadRequest("The body is not valid JSON, or cuts a character in two") from exc
    except (TooDeepError, RecursionError) as exc:
        raise BadRequest(f"The body is nested deeper than {DEPTH_MAX}") from exc
    except TooManyError as exc:
        raise BadRequest("The body has too many values") from exc


def _reading(raw: bytes, limits: AttachmentLimits) -> Steps[Prompt | Continuation]:
    if len(raw) > LONG_BYTES or raw.count(b"[") + raw.count(b"{") > DEPTH_MAX:
        yield from census(raw, _COUNTED, VALUES_MAX, DEPTH_MAX)
    body = _body(raw)
    yield
    regenerates = bool(body.messages) and body.regenerates
    message = yield from _last(body, regenerates)
    match _text(message.role, WORD_MAX):
        case "user":
            regenerates = regenerates or (not body.messages and body.regenerates)
            return (yield from _prompt(body, message, regenerates, limits))
        case "assistant":
            message_id = _id(message.id) or _id(body.message_id) or None
            chat_id = harmless.short(body.id)
            return (yield from continuation.reading(message_id, message.parts or (), chat_id))
        case _:
            raise BadRequest("The last message is neither the user's nor the assistant's")


def _last(body: _Body, regenerates: bool) -> Steps[_Message]:  # noqa: FBT001 (as it is handed on)
    if body.messages:
        if regenerates:
            return (yield from _last_of_user(body.messages))
        message = _message(body.messages[-1])
    elif body.messages is None and body.message:
        message = _message(body.message)
    else:
        raise BadRequest("The body has no messages")
    yield
    return message


def _last_of_user(messages: list[Raw]) -> Steps[_Message]:
    for raw in reversed(messages[-_SEARCHED_MAX:]):
        message = _message(raw)
        if _text(message.role, WORD_MAX) == "user":
            return message
        yield
    raise BadRequest("There is no message of the user to send again")


def _prompt(
    body: _Body,
    message: _Message,
    regenerates: bool,  # noqa: FBT001 (as it is handed on)
    limits: AttachmentLimits,
) -> Steps[Prompt]:
    text, files = yield from _content(message)
    if not text.strip() and not files:
        raise BadRequest("The prompt is empty")
    message_id, replaces = _id(message.id), _id(body.message_id)
    # A client names the answer that it wants anew, or this very message if it was edited.
    names_itself = replaces == message_id
    return Prompt(
        text,
        message_id or None,
        (yield from attachments.reading(files, limits)) if files else (),
        regenerates,
        (replaces or None) if regenerates is not names_itself else None,
        harmless.short(body.id),
    )


def _content(message: _Message) -> Steps[tuple[str, list[Raw]]]:
    """The text of a message, and the parts that are its files."""
    if message.parts is None:
        if not message.content:
            raise BadRequest("The last message has neither parts nor content")
        return _said(message.content), []
    if len(message.parts) > PARTS_MAX:
        raise BadRequest("The last message has too many parts")
    said = ""
    files: list[Raw] = []
    for raw in message.parts:
        part = _part(raw)
        match _text(part.type, WORD_MAX):
            case "text":
                said = _said(part.text or Raw(b"null"), said)
            case "file":
                files.append(raw)
            case _:
                pass
        yield
    return said, files


def _said(raw: Raw, before: str = "") -> str:
    """What a user said, and what before that."""
    try:
        return before + _text(raw, TEXT_MAX - len(before))
    except _TooLongError as exc:
        raise BadRequest(f"The prompt is longer than {TEXT_MAX} characters") from exc


class _TooLongError(msgspec.ValidationError):
    """A text is longer than it may be."""


def _text(raw: Raw, longest: int) -> str:
    """A text. One that is far too long is not built: that would take a while."""
    if len(raw) <= longest:  # a character has a byte at least
        return _string(raw)
    if len(raw) <= longest * _CHARACTER_BYTES + _MARKS:
        text = _string(raw)
        if len(text) <= longest:
            return text
    raise _TooLongError


def _id(raw: Raw) -> str | None:
    """An id. It may be there, and be `null`."""
    return None if not raw or bytes(raw) == b"null" else _text(raw, ID_MAX)
