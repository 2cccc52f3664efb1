"""The request that begins a response: the only thing that the gateway sends on this wire.

It is the request of useChat, with another `id`.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from turnwire.core.body.conversation import File, Message, Text, UserMessage
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import PromptRequest
from turnwire.dialects.ui_stream import messages

_HEADERS: Final = {"content-type": "application/json"}
_SUBMIT: Final = "submit-message"
_REGENERATE: Final = "regenerate-message"


def prompt(request: PromptRequest) -> Sequence[bytes]:
    """What a prompt is sent with, in the words of `messages.write`."""
    if request.conversation is not None:
        return request.conversation.written
    texts = (Text(request.text),) if request.text else ()
    files = (File(attachment) for attachment in request.attachments)
    # The turn has the prompt's own id, and so has the message that answers.
    message_id = request.client_message_id or f"{request.prompt_id}:prompt"
    return written(UserMessage(message_id, (*texts, *files)))


def written(message: Message) -> list[bytes]:
    """A message in the words of this wire, in one go."""
    return list(messages.write(message))


def chat(
    *,
    chat_id: str,
    sent: Iterable[bytes],
    message_id: str | None = None,
    regenerates: bool = False,
) -> ConnectRequest:
    """The request of a response. `sent` are whole messages, the oldest one first.

    `message_id` is the id of a message of the client that the response replaces or goes on with.
    """
    fields = [
        b'"id":' + msgspec.json.encode(chat_id),
        b'"messages":[' + b",".join(sent) + b"]",
        b'"trigger":' + msgspec.json.encode(_REGENERATE if regenerates else _SUBMIT),
    ]
    if message_id is not None:
        fields.append(b'"messageId":' + msgspec.json.encode(message_id))
    return ConnectRequest(method="POST", headers=_HEADERS, body=b"{" + b",".join(fields) + b"}")
