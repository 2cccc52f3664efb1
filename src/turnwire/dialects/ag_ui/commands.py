"""The request that begins a run: the only thing that the gateway sends on this wire."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.body.conversation import File, Message, Text, UserMessage
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import PromptRequest
from turnwire.dialects.ag_ui import messages

VERSION: Final = "1.0"
"""The version of the wire that is declared. Some agents spell an interrupt only as 1.0 does if the
client declares it; agents of earlier versions ignore it."""

_NUMBERS: Final = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}")

_HEADERS: Final = {"content-type": "application/json"}
_NOTHING: Final = Raw(b"{}")
_RUN: Final = (
    b'{"threadId":%%b,"runId":%%b,"protocolVersion":"%b","state":{},"messages":[%%b],'
    b'"tools":[],"context":[],"forwardedProps":%%b%%b}'
) % VERSION.encode()
_encode: Final = msgspec.json.Encoder().encode


def named_version(version: Raw) -> str | None:
    """The version of the wire that an agent names; None if it names none, or anything else."""
    named = safe_json.short_string(version)
    return named if named is not None and _NUMBERS.fullmatch(named) else None


def prompt(request: PromptRequest) -> Sequence[bytes]:
    """The messages that a prompt is sent with."""
    if request.conversation is not None:
        return request.conversation.written
    files = (File(attachment) for attachment in request.attachments)
    # The answer has the id of the prompt, so its message has another one.
    message_id = request.client_message_id or f"{request.prompt_id}:prompt"
    return written(UserMessage(message_id, (Text(request.text), *files)))


def written(message: Message) -> list[bytes]:
    """A message in the words of this wire, in one go."""
    return [item for item in messages.write(message) if item]


def run(
    *,
    thread_id: str,
    run_id: str,
    sent: Iterable[bytes],
    resume: Raw | None = None,
    forwarded_props: Raw = _NOTHING,
) -> ConnectRequest:
    """The request of a run. `sent` are encoded messages, the oldest one first.

    All fields are sent that some version of the wire requires.
    """
    body = _RUN % (
        _encode(thread_id),
        _encode(run_id),
        b",".join(sent),
        bytes(forwarded_props),
        b"" if resume is None else b',"resume":' + bytes(resume),
    )
    return ConnectRequest(method="POST", headers=_HEADERS, body=body)
