"""Prompts with a picture."""

import base64

from gateway.clients import Json, ask

_PNG = b"\x89PNG\r\n\x1a\n"


def picture(size: int) -> str:
    """A `data:` URL of about so many characters."""
    return "data:image/png;base64," + base64.b64encode(_PNG + b"\0" * (size * 3 // 4)).decode()


def ask_with_picture(size: int) -> Json:
    body = ask("look")
    file = {"type": "file", "mediaType": "image/png", "url": picture(size)}
    body["messages"][0]["parts"].append(file)
    return body
