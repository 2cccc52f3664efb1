"""What the gateway sends on the `v2` wire."""

import msgspec
from msgspec import Raw, Struct

from turnwire.core.dialect import Ask
from turnwire.dialects.v2.others import Channel


class _File(Struct, frozen=True, tag_field="type", tag="file", omit_defaults=True):
    mime: str
    url: str
    filename: str | None = None


class _Prompt(
    Struct, frozen=True, rename="camel", tag_field="type", tag="prompt", omit_defaults=True
):
    content: str
    prompt_id: str
    channel_type: str
    channel_id: str
    queue_mode: str
    client_message_id: str | None = None
    attachments: tuple[_File, ...] = ()
    regenerate: bool = False
    edit: bool = False


class _Abort(
    Struct, frozen=True, rename="camel", tag_field="type", tag="abort", omit_defaults=True
):
    prompt_id: str
    channel_type: str
    channel_id: str
    turn_id: str | None = None


class _Answer(
    Struct, frozen=True, rename="camel", tag_field="type", tag="answer", omit_defaults=True
):
    question_id: str
    answer: Raw
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
            attachments=tuple(_File(f.mime, f.url, f.filename) for f in ask.attachments),
            regenerate=ask.regenerates,
            edit=ask.replaces is not None and not ask.regenerates,
        )
    )


def abort(ask: Ask, turn_id: str | None) -> bytes:
    """An abort that names our prompt, and our turn once it is known."""
    return msgspec.json.encode(_Abort(ask.prompt_id, ask.channel_type, ask.channel_id, turn_id))


def stop(channel: Channel, turn_id: str, prompt_id: str | None) -> bytes:
    """An abort from somebody who did not ask for the turn."""
    return msgspec.json.encode(_Abort(prompt_id or "", *channel, turn_id))


def answer(question_id: str, given: Raw, turn_id: str | None = None) -> bytes:
    """An answer; it names the turn where another one has a question of that id open."""
    return msgspec.json.encode(_Answer(question_id, given, turn_id))
