"""The files of an exchange: how large they are, and the exchange without them.

Models are sent files again with each turn, so they are kept in memory; but not for ever.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec.structs import replace

from turnwire_agent.llm.transcript import (
    Call,
    File,
    Image,
    Message,
    Reasoning,
    Result,
    Results,
    Text,
    Transcript,
    User,
)
from turnwire_agent.session.events import Attachment, FilePart, Part, Prompted

MISSING: Final = "(The content of a file is missing{name}.)"
"""In the place of a file, for a model."""

_Piece = TypeVar("_Piece", Text | Image | File, Text | Reasoning | Call | Image | File)


def size_of(prompt: Prompted, parts: Iterable[Part] = (), messages: Transcript = ()) -> int:
    """The characters and bytes of all files of an exchange."""
    shown = (*prompt.attachments, *parts)
    urls = sum(len(each.url) for each in shown if isinstance(each, Attachment | FilePart))
    return urls + sum(len(file.data) for file in _files(messages))


def bytes_of(prompt: Prompted) -> int:
    """About how many bytes a prompt has, with its files."""
    text = prompt.content
    return (len(text) if text.isascii() else len(text.encode())) + size_of(prompt)


def missing(name: str = "") -> Text:
    """What a model is sent in the place of a file that is not there."""
    return Text(MISSING.format(name=f": {name}" if name else ""))


def prompt_without_files(prompt: Prompted) -> Prompted:
    """The prompt with attachments that have no URL any more."""
    attachments = tuple(replace(each, url="") for each in prompt.attachments)
    return replace(prompt, attachments=attachments)


def parts_without_files(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts with files that have no URL any more."""
    return tuple(replace(each, url="") if isinstance(each, FilePart) else each for each in parts)


def messages_without_files(messages: Transcript) -> Transcript:
    """The messages with a word in the place of each file."""
    return tuple(_without_files(message) for message in messages)


def _files(messages: Transcript) -> list[Image | File]:
    return [
        piece
        for message in messages
        for piece in _pieces(message)
        if isinstance(piece, Image | File)
    ]


def _pieces(message: Message) -> Iterable[Text | Reasoning | Call | Image | File]:
    if isinstance(message, Results):
        return [piece for result in message.results for piece in result.content]
    return message.parts


def _without_files(message: Message) -> Message:
    if isinstance(message, Results):
        return Results(tuple(map(_result_without_files, message.results)))
    if isinstance(message, User):
        return User(_replaced(message.parts))
    return replace(message, parts=_replaced(message.parts))


def _result_without_files(result: Result) -> Result:
    return replace(result, content=_replaced(result.content))


def _replaced(pieces: tuple[_Piece, ...]) -> tuple[_Piece, ...]:
    return tuple(missing() if isinstance(each, Image | File) else each for each in pieces)
