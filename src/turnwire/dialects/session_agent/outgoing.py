"""What the gateway sends on this wire (page 3)."""

from typing import Final

import msgspec
from msgspec import Struct

from turnwire.dialects.session_agent.channel import THREAD, Channel


class _Prompt(
    Struct, frozen=True, rename="camel", tag_field="type", tag="prompt", omit_defaults=True
):
    """The wire carries no id of ours: nothing that a prompt says but its text comes back."""

    content: str
    queue_mode: str
    channel_type: str
    channel_id: str
    thread_id: str | None = None


class _Abort(Struct, frozen=True, rename="camel", tag_field="type", tag="abort"):
    channel_type: str
    channel_id: str


PING: Final = b'{"type":"ping"}'


def prompt(text: str, channel: Channel) -> bytes:
    """The prompt, queued behind what runs.

    The mode is always said, since the session's own default may be `steer`,
    which aborts what runs (page 9, trap 11); so is the channel, since without
    it questions and errors are never broadcast (trap 9).
    """
    kind, name = channel
    thread_id = name if kind == THREAD else None
    return msgspec.json.encode(_Prompt(text, "followup", kind, name, thread_id))


def abort(channel: Channel) -> bytes:
    """An abort; V scopes it to a thread, R and A ignore the channel (page 5.5)."""
    return msgspec.json.encode(_Abort(*channel))
