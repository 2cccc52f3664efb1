"""Parses the body of a chat request into a `Prompt` or a `Continuation`.

Use: `extract(body)`, or `extract_in_steps(body, limits)` for long bodies. A body that
is of none of the known forms raises `BadRequest` with a reason.

The forms (measured; wire/ui-message-stream 4.1) are `{"messages": [...]}` and
`{"message": {...}}`. A message has `parts` (AI SDK 5 and later) or `content` as a
string (AI SDK 4 and third-party tools). A message of the user is a prompt. A message
of the assistant is a continuation (`continuation`).

Where the agent owns the history, only the last message is read. Where the client owns
it (`client_history`), the messages before it are converted too, and nothing in them is
a reason to refuse the body.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct, structs

from turnwire.core import safe_json
from turnwire.core.body import attachments, continuation, lone_surrogates
from turnwire.core.body.attachments import Attachment, AttachmentLimits
from turnwire.core.body.client_history import ClientHistory
from turnwire.core.body.continuation import Continuation
from turnwire.core.body.conversation import Conversation
from turnwire.core.bounds import ID_MAX, LONG_BYTES, WORD_MAX
from turnwire.core.steps import Steps, run_steps
from turnwire.core.wire.census import TooDeepError, TooManyError, census
from turnwire.errors import BadRequest

TEXT_MAX = 100_000
"""Longest prompt, in characters (code points)."""

DEPTH_MAX = 64
"""Deepest nesting of a body."""

HISTORY_DEPTH_MAX = 500
"""Deepest nesting of a body with a history, which may hold the output of any tool."""

VALUES_MAX = 200_000
"""Most messages and parts of a body. Each costs memory and time; real chats have fewer."""

PROMPT_PARTS_MAX = 1_000
"""Most parts of a message."""

_SEARCHED_MAX = 1_000
"""Most messages that are searched, from the end, for the last message of the user."""

_LIMITS = AttachmentLimits()

_COUNT_DEPTH: Final = 4
"""Depth down to which the values of a body are counted: its messages, and their parts."""

_CHARACTER_BYTES: Final = 12
"""Most bytes of a character in JSON: two escapes of six bytes."""

_QUOTES_BYTES: Final = 2
"""Bytes of the two quotation marks of a string."""


class Prompt(Struct, frozen=True):
    """A prompt of the user. `message_id` is the client's id of the message.

    `regenerates`: the user wants another answer to an earlier prompt. `replaces`
    is the client's id of the message to replace, if the request names one: with
    `regenerates` the id of that answer, else the prompt's own id, which means that
    the user edited it. `chat_id` is the client's id of the chat. `conversation`
    is what is sent to an agent that does not keep it; it holds the files too, so
    `attachments` is empty. `has_earlier`: the client has messages before this one.
    """

    text: str
    message_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    regenerates: bool = False
    replaces: str | None = None
    chat_id: str | None = None
    conversation: Conversation | None = None
    has_earlier: bool = False

    @property
    def size(self) -> int:
        """About how much memory the prompt takes, in bytes."""
        size = len(self.text) if self.conversation is None else self.conversation.size
        for file in self.attachments:
            size += len(file.url)
        return size


class _Message(Struct):
    role: Raw
    id: Raw = Raw()
    parts: Annotated[list[Raw], Meta(max_length=VALUES_MAX)] | None = None
    content: Raw = Raw()


class _TooLongError(msgspec.ValidationError):
    """A text is too long."""


class _Body(Struct, rename="camel"):
    messages: Annotated[list[Raw], Meta(max_length=VALUES_MAX)] | None = None
    message: Raw = Raw()
    trigger: Raw = Raw()
    message_id: Raw = Raw()
    id: Raw = Raw()

    @property
    def regenerates(self) -> bool:
        """Whether the trigger is `regenerate-message`. Any other string means `submit-message`.

        Raises:
            msgspec.ValidationError: the trigger is not a string.

        """
        return bool(self.trigger) and _text(self.trigger, WORD_MAX) == "regenerate-message"

    @property
    def all_messages(self) -> Sequence[Raw]:
        """The messages of either form.

        Raises:
            BadRequest: there are none.

        """
        if self.messages:
            return self.messages
        if self.messages is None and self.message:
            return [self.message]
        raise BadRequest("The body has no messages")


class _Repaired(Struct):
    """What is known of a body in which halves of characters were replaced."""

    count: int
    """How many there were."""
    other: _Body
    """The body with another character in their places."""

    def cuts(self, body: _Body, number: int) -> bool:
        """Whether there was one in the message of this number."""
        return bytes(body.all_messages[number]) != bytes(self.other.all_messages[number])


class _Part(Struct):
    type: Raw
    text: Raw = Raw()


_body = msgspec.json.Decoder(_Body).decode
_message = msgspec.json.Decoder(_Message).decode
_part = msgspec.json.Decoder(_Part).decode
_string = msgspec.json.Decoder(str).decode


def extract(
    body: bytes, limits: AttachmentLimits = _LIMITS, history: ClientHistory | None = None
) -> Prompt | Continuation:
    """Parse the body of a chat request. `history`: None if the agent keeps the conversation.

    Raises:
        BadRequest: the body holds nothing that can be sent to an agent.

    """
    return run_steps(extract_in_steps(body, limits, history))


def extract_in_steps(
    body: bytes, limits: AttachmentLimits, history: ClientHistory | None = None
) -> Steps[Prompt | Continuation]:
    """Do the work of `extract` in steps, because a long body takes a while.

    Raises:
        BadRequest: see `extract`.

    """
    if not body:
        raise BadRequest("The body is empty")
    depth_max = DEPTH_MAX if history is None else HISTORY_DEPTH_MAX
    try:
        if len(body) > LONG_BYTES or body.count(b"[") + body.count(b"{") > depth_max:
            yield from census(body, _COUNT_DEPTH, VALUES_MAX, depth_max)
        return (yield from _parse(*(yield from _decode(body, history)), limits, history))
    except msgspec.ValidationError as exc:
        raise BadRequest("The body has a field of a wrong type, or lacks one") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise BadRequest("The body is not valid JSON, or cuts a character in two") from exc
    except (TooDeepError, RecursionError) as exc:
        raise BadRequest(f"The body is nested deeper than {depth_max}") from exc
    except TooManyError as exc:
        raise BadRequest("The body has too many values") from exc


def _decode(data: bytes, history: ClientHistory | None) -> Steps[tuple[_Body, _Repaired | None]]:
    """Decode a body. With a history, a half of a character spoils nothing but itself."""
    try:
        return _body(data), None
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if history is None:
            raise
        yield
    lone = yield from lone_surrogates.find_in_steps(data)
    body = _body((yield from lone_surrogates.replace_in_steps(data, lone, rb"\ufffd")))
    yield
    other = _body((yield from lone_surrogates.replace_in_steps(data, lone, rb"\ufffe")))
    return body, _Repaired(len(lone), other)


def _parse(
    body: _Body,
    repaired: _Repaired | None,
    limits: AttachmentLimits,
    history: ClientHistory | None,
) -> Steps[Prompt | Continuation]:
    yield
    regenerates = bool(body.messages) and body.regenerates
    messages = body.all_messages
    number = len(messages) - 1
    if regenerates:
        number = yield from _last_prompt(messages, is_lenient=history is not None)
    message = _message(messages[number])
    yield
    replaced = 0 if repaired is None else repaired.count
    match _text(message.role, WORD_MAX):
        case "user":
            if repaired is not None and repaired.cuts(body, number):
                raise BadRequest("The prompt cuts a character in two")
            regenerates = regenerates or (not body.messages and body.regenerates)
            texts, files, has_more = yield from _content(message)
            prompt = yield from _prompt(body, message, "".join(texts), files, regenerates, limits)
            if number:
                prompt = structs.replace(prompt, has_earlier=True)
            if history is None:
                return prompt
            conversation = yield from history.for_prompt_in_steps(
                messages[: number + 1],
                prompt.attachments,
                replaced,
                texts=None if files or has_more else texts,
            )
            return structs.replace(prompt, attachments=(), conversation=conversation)
        case "assistant":
            message_id = _id(message.id) or _id(body.message_id) or None
            chat_id = safe_json.short_string(body.id)
            answers = yield from continuation.read_in_steps(
                message_id, message.parts or (), chat_id
            )
            if history is None:
                return answers
            conversation = yield from history.for_answers_in_steps(
                messages, answers.responses, replaced
            )
            return structs.replace(answers, conversation=conversation)
        case _:
            raise BadRequest("The last message is neither the user's nor the assistant's")


def _last_prompt(messages: Sequence[Raw], *, is_lenient: bool) -> Steps[int]:
    """Return the number of the last message of the user."""
    for number in range(len(messages) - 1, max(-1, len(messages) - 1 - _SEARCHED_MAX), -1):
        try:
            role = _text(_message(messages[number]).role, WORD_MAX)
        except msgspec.ValidationError:
            if not is_lenient:
                raise
            role = ""
        if role == "user":
            return number
        yield
    raise BadRequest("There is no message of the user to send again")


def _prompt(
    body: _Body,
    message: _Message,
    text: str,
    files: Sequence[Raw],
    regenerates: bool,  # noqa: FBT001 (as it is handed on)
    limits: AttachmentLimits,
) -> Steps[Prompt]:
    if not text.strip() and not files:
        raise BadRequest("The prompt is empty")
    message_id, replaces = _id(message.id), _id(body.message_id)
    # A client names the answer that it wants to replace, or this message itself if it was edited.
    names_itself = replaces == message_id
    return Prompt(
        text,
        message_id or None,
        (yield from attachments.read_in_steps(files, limits)) if files else (),
        regenerates,
        (replaces or None) if regenerates is not names_itself else None,
        safe_json.short_string(body.id),
    )


def _content(message: _Message) -> Steps[tuple[list[str], list[Raw], bool]]:
    """Return the texts of a message, its `file` parts, and whether it has others."""
    if message.parts is None:
        if not message.content:
            raise BadRequest("The last message has neither parts nor content")
        return [_prompt_text(message.content, TEXT_MAX)], [], False
    if len(message.parts) > PROMPT_PARTS_MAX:
        raise BadRequest("The last message has too many parts")
    texts: list[str] = []
    files: list[Raw] = []
    room, has_more = TEXT_MAX, False
    for raw in message.parts:
        part = _part(raw)
        match _text(part.type, WORD_MAX):
            case "text":
                text = _prompt_text(part.text or Raw(b"null"), room)
                texts.append(text)
                room -= len(text)
            case "file":
                files.append(raw)
            case _:
                has_more = True
        yield
    return texts, files, has_more


def _prompt_text(raw: Raw, longest: int) -> str:
    """Decode the JSON string of a text of the prompt, for which so many characters are left.

    Raises:
        BadRequest: it is longer.

    """
    try:
        return _text(raw, longest)
    except _TooLongError as exc:
        raise BadRequest(f"The prompt is longer than {TEXT_MAX} characters") from exc


def _text(raw: Raw, longest: int) -> str:
    """Decode a JSON string of at most `longest` characters.

    A string that is certainly too long is not decoded, because that would take a while.

    Raises:
        _TooLongError: the string is longer.

    """
    if len(raw) <= longest:  # each character has one byte or more
        return _string(raw)
    if len(raw) <= longest * _CHARACTER_BYTES + _QUOTES_BYTES:
        text = _string(raw)
        if len(text) <= longest:
            return text
    raise _TooLongError


def _id(raw: Raw) -> str | None:
    """Decode an id; None if it is absent or `null`."""
    return None if not raw or bytes(raw) == b"null" else _text(raw, ID_MAX)
