"""What the gateway sends on this wire (page 3)."""

from typing import Final

import msgspec
from msgspec import Struct

from turnwire.core.dialect import Ask
from turnwire.dialects.session_agent.channel import THREAD, Channel


class _File(Struct, frozen=True, tag_field="type", tag="file", omit_defaults=True):
    mime: str
    url: str
    filename: str | None = None


class _Prompt(
    Struct, frozen=True, rename="camel", tag_field="type", tag="prompt", omit_defaults=True
):
    """The wire carries no id of ours: nothing that a prompt says but its text comes back."""

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


def prompt(ask: Ask, channel: Channel) -> bytes:
    """The prompt, queued behind what runs.

    The mode is always said, since the session's own default may be `steer`,
    which aborts what runs (page 9, trap 11); so is the channel, since without
    it questions and errors are never broadcast (trap 9).
    """
    kind, name = channel
    thread_id = name if kind == THREAD else None
    files = tuple(_File(f.mime, f.url, f.filename) for f in ask.attachments)
    return msgspec.json.encode(_Prompt(ask.text, "followup", kind, name, thread_id, files))


def abort(channel: Channel) -> bytes:
    """An abort; V scopes it to a thread, R and A ignore the channel (page 5.5)."""
    return msgspec.json.encode(_Abort(*channel))


def answer(question_id: str, given: str | bool) -> bytes:  # noqa: FBT001 (it is the answer)
    return msgspec.json.encode(_Answer(question_id, given))


def approve(invocation_id: str, action_id: str) -> bytes:
    return msgspec.json.encode(_Approve(invocation_id, action_id))


def deny(invocation_id: str, reason: str | None = None) -> bytes:
    return msgspec.json.encode(_Deny(invocation_id, "cancel", reason))
