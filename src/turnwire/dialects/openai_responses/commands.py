"""The request of a response: the only thing that the gateway sends on this wire."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from turnwire.core.body.conversation import File, Text, UserMessage
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import AgentRequest, DialectOptions, PromptRequest
from turnwire.core.wire.thread_id import thread_id
from turnwire.dialects.openai_responses import messages

PATH: Final = "/responses"
"""Added to the agent's URL, which is what clients of this wire call the base URL."""

FIELDS: Final = frozenset(
    {"model", "input", "stream", "background", "conversation", "previous_response_id"}
)
"""The fields that no operator may set. The last two would be one thread of all users. A response in
the background goes on when its connection is closed, which is how the gateway aborts one."""

_JSON: Final = {"content-type": "application/json"}


def prompt(request: PromptRequest) -> Sequence[bytes]:
    """The items that a prompt is sent with."""
    if request.conversation is not None:
        return request.conversation.written
    files = (File(attachment) for attachment in request.attachments)
    message = UserMessage(request.prompt_id, (Text(request.text), *files))
    return [item for item in messages.write(message) if item]


def thread_of(request: AgentRequest) -> str:
    """The conversation at an agent that keeps it. No client chooses it."""
    return thread_id(request.session_id, request.channel.type, request.channel.id)


def response(
    options: DialectOptions, thread: str, sent: Iterable[bytes], previous: str | None = None
) -> ConnectRequest:
    """The request of a response. `sent` are encoded items, the oldest one first.

    `previous` is the agent's id of the response that this one goes on with, if it is known.
    """
    fields: dict[str, bytes] = {}
    if previous is not None:
        fields["previous_response_id"] = msgspec.json.encode(previous)
    elif not options.sends_history and not options.names_previous_response:
        fields["conversation"] = msgspec.json.encode(thread)
    fields |= {name: bytes(value) for name, value in options.fields.items()}
    fields["model"] = msgspec.json.encode(options.model)
    fields["stream"] = b"true"
    fields["input"] = b"[" + b",".join(sent) + b"]"
    pairs = (msgspec.json.encode(name) + b":" + value for name, value in fields.items())
    body = b"{" + b",".join(pairs) + b"}"
    return ConnectRequest(method="POST", path=PATH, headers=_JSON, body=body)
