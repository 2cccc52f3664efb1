"""What a gateway asks for. A frame that is not understood is none of these."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire_agent.session.events import Attachment, Channel

FRAME_BYTES: Final = 32 * 1024 * 1024
"""Longest frame. A prompt has its attachments in it."""

ANSWER_BYTES: Final = 1024 * 1024
"""Longest answer to a question, as JSON."""

Id = Annotated[str, Meta(max_length=512)]
ChannelName = Annotated[str, Meta(max_length=256)]


MIME_MAX: Final = 256
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

    question_id: Annotated[str, Meta(min_length=1, max_length=512)]
    answer: Raw
    turn_id: Id | None = None


class Ping(_Request, frozen=True, tag="ping"):
    """Asks for a `pong`."""


Request = Prompt | Abort | Answer | Ping

_decode: Final = msgspec.json.Decoder(Request).decode


def parse(data: str | bytes) -> Request | None:
    """Read a frame. None if it is not understood: the caller counts it, and goes on."""
    if len(data) > FRAME_BYTES:
        return None
    try:
        request: Request = _decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return request if _is_bounded(request) else None


def _is_bounded(request: Request) -> bool:
    match request:
        case Answer(answer=answer):
            return len(answer) <= ANSWER_BYTES
        case Prompt(attachments=attachments):
            return all(
                len(each.mime) <= MIME_MAX and len(each.filename or "") <= FILENAME_MAX
                for each in attachments
            )
        case _:
            return True
