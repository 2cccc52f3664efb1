"""A request's body to a prompt: every form that clients send, and a reason for every other.

The agent owns the history, so only the last message is read. Forms (measured;
wire/ui-message-stream 4.1): `{"messages": [...]}` and `{"message": {...}}`; a
message has `parts` (AI SDK 5 and later) or `content` as a string (AI SDK 4 and
third-party tools).
"""

import itertools
import re
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

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

_ONE_KIND = bytes.maketrans(b"[]", b"{}")
_NOT_READ = bytes(set(range(256)) - set(b'[]{}"'))
_NOT_COUNTED = bytes(set(range(256)) - set(b',"'))
_STRING = re.compile(rb'"[^"]*+"')
_OPENING = ord("{")
_RUN = re.compile(rb"\{++|\}++")


class Prompt(Struct, frozen=True):
    """What the user asked. `message_id` is the client's id of the message."""

    text: str
    message_id: str | None = None


class _Message(Struct):
    role: str
    id: _Id | None = None
    parts: list[Raw] | None = None
    content: Raw = Raw()


class _Body(Struct):
    messages: list[Raw] | None = None
    message: Raw = Raw()
    trigger: Raw = Raw()


class _Part(Struct):
    type: str
    text: Raw = Raw()


_body = msgspec.json.Decoder(_Body).decode
_message = msgspec.json.Decoder(_Message).decode
_part = msgspec.json.Decoder(_Part).decode
_string = msgspec.json.Decoder(str).decode


def extract(body: bytes) -> Prompt:
    """Read the prompt out of a request's body.

    Raises:
        BadRequest: it holds none that can be sent.

    """
    if not body:
        raise BadRequest("The body is empty")
    try:
        return _extract(body)
    except msgspec.ValidationError as exc:
        raise BadRequest("The body has a field of a wrong type, or lacks one") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise BadRequest("The body is not valid JSON, or cuts a character in two") from exc
    except RecursionError as exc:
        raise BadRequest(_too_deep()) from exc


def _too_deep() -> str:
    return f"The body is nested deeper than {DEPTH_MAX}"


def _extract(raw: bytes) -> Prompt:
    if _values(raw) > VALUES_MAX:
        raise BadRequest("The body has too many values")
    body = _body(raw)
    if _deeper(raw, DEPTH_MAX):
        raise BadRequest(_too_deep())
    message = _last(body)
    match message.role:
        case "user":
            return _prompt(message)
        case "assistant":
            # An answer or an approval. Our own tool output coming back is none.
            raise BadRequest("Nothing to forward: continuations are not supported yet")
        case _:
            raise BadRequest("The last message is neither the user's nor the assistant's")


def _last(body: _Body) -> _Message:
    if body.messages:
        if _is_regenerate(body.trigger):
            return _last_of_user(body.messages)
        return _message(body.messages[-1])
    if body.messages is None and body.message:
        return _message(body.message)
    raise BadRequest("The body has no messages")


def _is_regenerate(trigger: Raw) -> bool:
    """Any other string is `submit-message`; anything that is no string is a wrong type."""
    return bool(trigger) and _string(trigger) == "regenerate-message"


def _last_of_user(messages: list[Raw]) -> _Message:
    for raw in reversed(messages[-_SEARCHED_MAX:]):
        message = _message(raw)
        if message.role == "user":
            return message
    raise BadRequest("There is no message of the user to send again")


def _prompt(message: _Message) -> Prompt:
    if message.parts is not None:
        if len(message.parts) > PARTS_MAX:
            raise BadRequest("The last message has too many parts")
        text = "".join(_text(_part(part)) for part in message.parts)
    elif message.content:
        text = _string(message.content)
    else:
        raise BadRequest("The last message has neither parts nor content")
    if not text.strip():
        raise BadRequest("The prompt is empty")
    if len(text) > TEXT_MAX:
        raise BadRequest(f"The prompt is longer than {TEXT_MAX} characters")
    return Prompt(text, message.id or None)


def _text(part: _Part) -> str:
    match part.type:
        case "text":
            return _string(part.text or b"null")
        case "file":
            raise BadRequest("Attachments are not supported yet")
        case _:
            return ""


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
