"""What the gateway sends on the `v2` wire."""

import msgspec
from msgspec import Struct

from turnwire.core.dialect import Ask


class _Prompt(
    Struct, frozen=True, rename="camel", tag_field="type", tag="prompt", omit_defaults=True
):
    content: str
    prompt_id: str
    channel_type: str
    channel_id: str
    queue_mode: str
    client_message_id: str | None = None


class _Abort(
    Struct, frozen=True, rename="camel", tag_field="type", tag="abort", omit_defaults=True
):
    prompt_id: str
    channel_type: str
    channel_id: str
    turn_id: str | None = None


def prompt(ask: Ask) -> bytes:
    """The prompt, queued behind what runs: it never steers another turn."""
    return msgspec.json.encode(
        _Prompt(
            content=ask.text,
            prompt_id=ask.prompt_id,
            channel_type=ask.channel_type,
            channel_id=ask.channel_id,
            queue_mode="followup",
            client_message_id=ask.client_message_id,
        )
    )


def abort(ask: Ask, turn_id: str | None) -> bytes:
    """An abort that names our prompt, and our turn once it is known."""
    return msgspec.json.encode(_Abort(ask.prompt_id, ask.channel_type, ask.channel_id, turn_id))
