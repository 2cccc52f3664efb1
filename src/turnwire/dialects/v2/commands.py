"""The frames that the gateway sends on the `v2` wire. Each function returns one, in JSON."""

from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import Channel, PromptRequest

CONNECT: Final = ConnectRequest()


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


def prompt(request: PromptRequest) -> bytes:
    """The prompt. It always waits behind the running turn (`followup`) and never steers it."""
    return msgspec.json.encode(
        _Prompt(
            content=request.text,
            prompt_id=request.prompt_id,
            channel_type=request.channel.type,
            channel_id=request.channel.id,
            queue_mode="followup",
            client_message_id=request.client_message_id,
            attachments=tuple(_File(f.mime, f.url, f.filename) for f in request.attachments),
            regenerate=request.regenerates,
            edit=request.replaces is not None and not request.regenerates,
        )
    )


def abort(request: PromptRequest, turn_id: str | None) -> bytes:
    """An abort that names our prompt, and our turn as soon as its id is known."""
    return stop(request.channel, turn_id, request.prompt_id)


def stop(channel: Channel, turn_id: str | None, prompt_id: str | None) -> bytes:
    """An abort of a turn that another connection sent the prompt of."""
    return msgspec.json.encode(_Abort(prompt_id or "", channel.type, channel.id, turn_id))


def answer(question_id: str, reply: Raw, turn_id: str | None = None) -> bytes:
    """An answer. Pass `turn_id` if another turn has an open question of the same id."""
    return msgspec.json.encode(_Answer(question_id, reply, turn_id))
