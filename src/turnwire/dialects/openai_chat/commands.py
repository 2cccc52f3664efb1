"""The request of a turn: the only thing that the gateway sends on this wire."""

from collections.abc import Sequence
from typing import Final

import msgspec

from turnwire.core.body.conversation import File, Text, UserMessage
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import PromptRequest
from turnwire.core.wire.thread_id import thread_id
from turnwire.dialects.openai_chat import messages

PATH: Final = "/chat/completions"
"""Added to the agent's URL, which is what clients of this wire call the base URL."""

FIELDS: Final = frozenset({"model", "messages", "stream", "user"})
"""The fields that no operator may set. One `user` would be one thread of all users."""

_JSON: Final = {"content-type": "application/json"}
_SESSION: Final = "x-hermes-session-id"
"""The header by which one agent finds the conversation that it keeps."""

_WITH_USAGE: Final = b'{"include_usage":true}'


def prompt(request: PromptRequest) -> Sequence[bytes]:
    """The messages that a prompt is sent with."""
    if request.conversation is not None:
        return request.conversation.written
    files = (File(attachment) for attachment in request.attachments)
    message = UserMessage(request.prompt_id, (Text(request.text), *files))
    return [item for item in messages.write(message) if item]


def completion(request: PromptRequest) -> ConnectRequest:
    """The request of a turn.

    An agent that keeps the conversation is sent the new prompt alone, and an id of the thread, in
    the two forms that such agents read. No client chooses that id.
    """
    options = request.options
    fields = {"stream_options": _WITH_USAGE}
    headers = _JSON
    if not options.sends_history:
        thread = thread_id(request.session_id, request.channel.type, request.channel.id)
        fields["user"] = msgspec.json.encode(thread)
        headers = {**_JSON, _SESSION: thread}
    fields |= {name: bytes(value) for name, value in options.fields.items()}
    fields["model"] = msgspec.json.encode(options.model)
    fields["stream"] = b"true"
    fields["messages"] = b"[" + b",".join(prompt(request)) + b"]"
    pairs = (msgspec.json.encode(name) + b":" + value for name, value in fields.items())
    body = b"{" + b",".join(pairs) + b"}"
    return ConnectRequest(method="POST", path=PATH, headers=headers, body=body)
