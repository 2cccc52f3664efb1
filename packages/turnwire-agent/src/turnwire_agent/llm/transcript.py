"""What was said in a conversation, in no provider's words.

A `Transcript` is a tuple of messages, oldest first: what a `User` said, what the `Assistant` said
and which tools it called, and the `Results` of those calls. Everything in it is a frozen struct
with a tag, so that msgspec writes it to a journal and reads it back.

The names of tools are those that the model knows them by (`ToolSpec.name`).
"""

from typing import Literal

from msgspec import Raw, Struct

Outcome = Literal["done", "failed", "denied", "canceled", "unknown"]
"""How a call ended. `unknown`: the process died between its intent and its result."""


class Text(Struct, frozen=True, tag="text"):
    """Words. Never empty in what an encoder is given; an empty one is left out."""

    text: str


class Image(Struct, frozen=True, tag="image"):
    """A picture: its bytes, or where the provider may fetch it."""

    media_type: str
    """As `image/png`."""
    data: bytes = b""
    url: str = ""
    """Read only if `data` is empty."""


class File(Struct, frozen=True, tag="file"):
    """A document: a PDF, a text, a recording."""

    media_type: str
    data: bytes = b""
    url: str = ""
    """Read only if `data` is empty."""
    name: str = ""


class Reasoning(Struct, frozen=True, tag="reasoning"):
    """What the model thought, for people to read. Models get their own back as `Native` only."""

    text: str


class Call(Struct, frozen=True, tag="call"):
    """The model calls a tool."""

    id: str
    name: str
    arguments: str = "{}"
    """JSON, as the model wrote it. It may not parse."""


class Result(Struct, frozen=True):
    """What became of one call."""

    call_id: str
    name: str
    content: tuple[Text | Image | File, ...] = ()
    outcome: Outcome = "done"


class Native(Struct, frozen=True):
    """What a provider sent for one answer, byte for byte.

    It goes back unchanged to the same model of the same provider, which needs its signatures and
    its encrypted reasoning. Any other model gets the neutral parts.
    """

    shape: str
    provider: str
    model: str
    blocks: Raw
    """A JSON array of the shape's own blocks. Each shape says which."""


class User(Struct, frozen=True, tag="user"):
    """What a person, or the program in their place, said."""

    parts: tuple[Text | Image | File, ...]


class Assistant(Struct, frozen=True, tag="assistant"):
    """One answer of a model, whole: an answer that was cut is none."""

    parts: tuple[Text | Reasoning | Call | Image | File, ...]
    native: Native | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of this answer, in the order of the model."""
        return tuple(part for part in self.parts if isinstance(part, Call))


class Results(Struct, frozen=True, tag="results"):
    """The results of the calls of the answer before, in the order of those calls."""

    results: tuple[Result, ...]


Message = User | Assistant | Results
Transcript = tuple[Message, ...]
