"""What a gateway asks for. A frame that is not understood is none of these."""

import json
import re
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire_agent.session.events import Attachment, Channel
from turnwire_agent.tools.nesting import is_too_deep

FRAME_BYTES: Final = 32 * 1024 * 1024
"""Longest frame. A prompt has its attachments in it."""

ANSWER_BYTES: Final = 1024 * 1024
"""Longest answer to a question, as JSON."""

ID_MAX: Final = 512
Id = Annotated[str, Meta(max_length=ID_MAX)]
ChannelName = Annotated[str, Meta(max_length=256)]


MIME_MAX: Final = 256
SEARCHED_BYTES: Final = 1024 * 1024
"""Longest frame that is searched for the id of a prompt which cannot be accepted."""
FILENAME_MAX: Final = 4_096
"""Most characters of what an attachment is called."""

Attachments = Annotated[tuple[Attachment, ...], Meta(max_length=256)]


class _Request(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type"):
    """Base of what is asked for. Other fields are not read."""


class Prompt(_Request, frozen=True, tag="prompt"):
    """Answer this."""

    content: str = ""
    prompt_id: Id | None = None
    client_message_id: Id | None = None
    channel_type: ChannelName = ""
    channel_id: ChannelName = ""
    attachments: Attachments = ()
    regenerate: bool = False
    edit: bool = False

    @property
    def channel(self) -> Channel:
        """Where in the session it is asked. An empty name is none."""
        usual = Channel()
        return Channel(self.channel_type or usual.type, self.channel_id or usual.id)


class Abort(_Request, frozen=True, tag="abort"):
    """Stop a turn, or take a prompt back."""

    turn_id: Id | None = None
    prompt_id: Id | None = None


class Answer(_Request, frozen=True, tag="answer"):
    """The answer to a question."""

    question_id: Annotated[str, Meta(min_length=1, max_length=ID_MAX)]
    answer: Raw
    turn_id: Id | None = None


class Ping(_Request, frozen=True, tag="ping"):
    """Asks for a `pong`."""


Request = Prompt | Abort | Answer | Ping


class Unreadable(Struct, frozen=True):
    """A prompt that cannot be accepted: half a character, a value that is too long or of no sense.

    Whoever sent it waits for its turn, and hears that there will be none.
    """

    prompt_id: str | None
    """None if it has none, or if that is what is wrong."""


_decode: Final = msgspec.json.Decoder(Request).decode
_PROMPT: Final = re.compile(r'\s*\{\s*"type"\s*:\s*"prompt"')
"""How the prompts of gateways begin."""
_BEGIN: Final = 1_000


def parse(data: str | bytes) -> Request | Unreadable | None:
    """Read a frame. None if it is not understood and no prompt: nobody waits for it."""
    if len(data) > FRAME_BYTES:
        return _unread(data)
    try:
        request: Request = _decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _unreadable(data)
    if _is_bounded(request):
        return request
    return Unreadable(request.prompt_id) if isinstance(request, Prompt) else None


def _unreadable(data: str | bytes) -> Unreadable | None:
    """Find what kind of frame it is, and whose, with a reader that takes halves of characters."""
    if len(data) > SEARCHED_BYTES:
        return _unread(data)
    try:
        found = json.loads(data)
    except RecursionError:
        return _unread(data)
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get("type") != "prompt":
        return None
    prompt_id = found.get("promptId")
    return Unreadable(prompt_id if _is_id(prompt_id) else None)


def _unread(data: str | bytes) -> Unreadable | None:
    """What a frame is that is too much to read, by its beginning."""
    begin = data[:_BEGIN]
    text = begin if isinstance(begin, str) else begin.decode(errors="replace")
    return Unreadable(None) if _PROMPT.match(text) else None


def _is_id(prompt_id: object) -> bool:
    if not isinstance(prompt_id, str) or len(prompt_id) > ID_MAX:
        return False
    return not any("\ud800" <= each <= "\udfff" for each in prompt_id)


def _is_bounded(request: Request) -> bool:
    match request:
        case Answer(answer=answer):
            return len(answer) <= ANSWER_BYTES and not is_too_deep(bytes(answer))
        case Prompt(attachments=attachments):
            return all(
                len(each.mime) <= MIME_MAX and len(each.filename or "") <= FILENAME_MAX
                for each in attachments
            )
        case _:
            return True
