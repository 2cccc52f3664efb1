"""A prompt as models are sent it."""

import base64
import binascii
from typing import Final
from urllib.parse import unquote_to_bytes

from turnwire_agent.llm.transcript import File, Image, Text, User
from turnwire_agent.session.events import Attachment, Prompted
from turnwire_agent.session.files import missing

EMPTY: Final = "(The message is empty.)"
"""In the place of a prompt without any content: no provider takes an empty message."""

_DATA: Final = "data:"
_BASE64: Final = ";base64"


def user_message(prompt: Prompted) -> User:
    """The text of a prompt, and its attachments behind it."""
    parts: list[Text | Image | File] = [Text(prompt.content)] if prompt.content else []
    parts += map(_attached, prompt.attachments)
    return User(tuple(parts) or (Text(EMPTY),))


def _attached(attachment: Attachment) -> Text | Image | File:
    name, url = attachment.filename or "", attachment.url
    if url and url[: len(_DATA)].lower() != _DATA:
        if attachment.mime.startswith("image/"):
            return Image(attachment.mime, url=url)
        return File(attachment.mime, url=url, name=name)
    content = _content(url)
    if content is None:
        return missing(name or attachment.mime)
    if attachment.mime.startswith("image/"):
        return Image(attachment.mime, content)
    return File(attachment.mime, content, name=name)


def _content(url: str) -> bytes | None:
    """The content of a `data:` URL; None if it has none."""
    head, comma, encoded = url.partition(",")
    if not comma:
        return None
    content = unquote_to_bytes(encoded)
    if head.lower().endswith(_BASE64):
        try:
            content = base64.b64decode(content)
        except binascii.Error:
            return None
    return content or None
