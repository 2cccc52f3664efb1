"""Pictures and files as the wires write them."""

import base64

from turnwire_agent.llm.transcript import File, Image


def encoded(part: Image | File) -> str:
    """The bytes as base64."""
    return base64.b64encode(part.data).decode()


def address(part: Image | File) -> str:
    """The bytes as a `data:` URL; without bytes, where the provider may fetch them."""
    return f"data:{part.media_type};base64,{encoded(part)}" if part.data else part.url


def words(file: File) -> str:
    """The text of a file of text."""
    return file.data.decode("utf-8", "replace")
