"""The `v2` wire as this agent reads it, and the ways in which one agent may differ from another.

Frames to the gateway are plain dicts, built where they are sent: a second layer of types would only
repeat the specification, and tests read the frames themselves.
"""

from typing import Any, Final, Literal

import msgspec

from turnwire_lab.agents.common.frames import Json

Spelling = Literal["chunk", "text-delta"]

BOTH: Final[tuple[Spelling, ...]] = ("chunk", "text-delta")


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """How this agent behaves where agents differ."""

    pace_s: float = 0.0
    """Between two deltas, and between two states of a tool."""
    slow_s: float = 0.2
    """Between two deltas of a turn that was asked to be slow."""
    question_s: float = 300.0
    """How long a question waits for its answer."""
    quick_s: float = 5.0
    """The same for one that was asked quickly."""
    spellings: tuple[Spelling, ...] = BOTH
    """The frames that carry a delta, in this order."""
    prompt_ids: bool = True
    """Whether frames carry `promptId`; without it a gateway must find its turn by channel."""
    init: bool = True
    """Whether a socket gets `init` first. Some agents send none."""
    recognise: bool = False
    """Whether a prompt with a known `clientMessageId` gets the turn that it began.

    Off, it is one more turn: most agents take no notice.
    """
    buffer_bytes: int = 64 * 1024 * 1024
    """What may wait for one socket before it is cut off."""
    noise: bool = True
    """Whether hydration and domain frames go out too, which a gateway has to skip."""


class Channel(msgspec.Struct, frozen=True):
    """Where in the session a prompt was asked."""

    type: str = "web"
    id: str = "default"

    def fields(self) -> Json:
        return {"channelType": self.type, "channelId": self.id}


class Attachment(msgspec.Struct, frozen=True):
    mime: str
    url: str
    filename: str | None = None


class Prompt(msgspec.Struct, frozen=True, kw_only=True, tag="prompt", rename="camel"):
    content: str = ""
    prompt_id: str | None = None
    client_message_id: str | None = None
    channel_type: str = "web"
    channel_id: str = "default"
    attachments: list[Attachment] = []
    regenerate: bool = False
    """Whether the answer takes the place of the one before."""
    edit: bool = False
    """Whether it takes the place of the prompt with its `clientMessageId`, and of what followed."""

    @property
    def channel(self) -> Channel:
        return Channel(self.channel_type, self.channel_id)


class Abort(msgspec.Struct, frozen=True, kw_only=True, tag="abort", rename="camel"):
    turn_id: str | None = None
    prompt_id: str | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag="answer", rename="camel"):
    question_id: str
    answer: Any


class Ping(msgspec.Struct, frozen=True, tag="ping"):
    """Asks for a `pong`."""


Asked = Prompt | Abort | Answer | Ping

_ASKED: Final = msgspec.json.Decoder(Asked)


def parse(data: str | bytes) -> Asked | None:
    """What a gateway asks for; None for what this agent does not understand."""
    try:
        asked: Asked = _ASKED.decode(data)
    except (msgspec.DecodeError, UnicodeError):
        return None
    return asked
