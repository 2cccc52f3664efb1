"""The frames that the gateway sends on this wire (page 3).

Each function returns one encoded frame.

Pages are sections of docs/wire/session-agent.md.
"""

from typing import Final

import msgspec
from msgspec import Struct

from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import Channel, PromptRequest
from turnwire.dialects.session_agent.frames import THREAD

CONNECT: Final = ConnectRequest(offered_protocols=("valet", "agent-ops"))
"""A and V select `valet` even if the client offers no sub-protocol (page 2.1)."""


class _File(Struct, frozen=True, tag_field="type", tag="file", omit_defaults=True):
    mime: str
    url: str
    filename: str | None = None


class _Prompt(
    Struct, frozen=True, rename="camel", tag_field="type", tag="prompt", omit_defaults=True
):
    """A prompt.

    The wire has no field for an id of ours: the agent echoes the text and the channel alone.
    """

    content: str
    queue_mode: str
    channel_type: str
    channel_id: str
    thread_id: str | None = None
    attachments: tuple[_File, ...] = ()


class _Abort(Struct, frozen=True, rename="camel", tag_field="type", tag="abort"):
    channel_type: str
    channel_id: str


class _Answer(Struct, frozen=True, rename="camel", tag_field="type", tag="answer"):
    question_id: str
    answer: str | bool


class _Approve(Struct, frozen=True, rename="camel", tag_field="type", tag="approve-action"):
    invocation_id: str
    action_id: str


class _Deny(
    Struct, frozen=True, rename="camel", tag_field="type", tag="deny-action", omit_defaults=True
):
    invocation_id: str
    action_id: str
    reason: str | None = None


PING: Final = b'{"type":"ping"}'


def prompt(request: PromptRequest, channel: Channel) -> bytes:
    """A prompt that waits behind the turns that run.

    The frame always states the mode, since the default of the session may be `steer`, which
    aborts the running turn (page 9, trap 11). It always states the channel, since without a
    channel the agent never broadcasts questions and errors (trap 9).
    """
    thread_id = channel.id if channel.type == THREAD else None
    files = tuple(_File(file.mime, file.url, file.filename) for file in request.attachments)
    return msgspec.json.encode(
        _Prompt(request.text, "followup", channel.type, channel.id, thread_id, files)
    )


def abort(channel: Channel) -> bytes:
    """An abort. V limits it to a thread; R and A ignore the channel (page 5.5)."""
    return msgspec.json.encode(_Abort(channel.type, channel.id))


def answer(question_id: str, value: str | bool) -> bytes:  # noqa: FBT001 (the value of the answer)
    return msgspec.json.encode(_Answer(question_id, value))


def approve(invocation_id: str, action_id: str) -> bytes:
    return msgspec.json.encode(_Approve(invocation_id, action_id))


def deny(invocation_id: str, reason: str | None = None) -> bytes:
    return msgspec.json.encode(_Deny(invocation_id, "cancel", reason))
