"""Pictures and files as the wires write them."""

import base64
from typing import Final

from turnwire_agent.llm.transcript import File, Image

IMAGES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The types of pictures that providers take."""

_MISNAMED: Final = {"image/jpg": "image/jpeg"}


def type_of(part: Image | File) -> str:
    """The media type in small letters, without its parameters."""
    media_type = part.media_type.partition(";")[0].strip().lower()
    return _MISNAMED.get(media_type, media_type)


def is_image(part: Image | File) -> bool:
    """Whether providers take it as a picture. One by its address they fetch, and look at."""
    return type_of(part) in IMAGES or (isinstance(part, Image) and not part.data)


def encoded(part: Image | File) -> str:
    """The bytes as base64."""
    return base64.b64encode(part.data).decode()


def address(part: Image | File) -> str:
    """The bytes as a `data:` URL; without bytes, where the provider may fetch them."""
    return f"data:{type_of(part)};base64,{encoded(part)}" if part.data else part.url


def words(file: Image | File) -> str:
    """The text of a file of text."""
    return file.data.decode("utf-8", "replace")
