"""Events as rows of a journal, and back.

A row has a kind, with its version, and a body of compact JSON. A process that finds a kind it does
not know refuses the session: it would have to guess what the session is.
"""

from typing import Final, get_args

import msgspec
from msgspec import Struct

from turnwire_agent.session.events import (
    AttemptLost,
    CallBegun,
    CallEnded,
    Event,
    QuestionAsked,
    QuestionClosed,
    StepBegun,
    StepEnded,
    Streamed,
    TurnParked,
    TurnTakenOver,
)
from turnwire_agent.session.mended import mended

DETAILS: Final = (
    Streamed,
    StepBegun,
    StepEnded,
    AttemptLost,
    CallBegun,
    CallEnded,
    QuestionAsked,
    QuestionClosed,
    TurnParked,
    TurnTakenOver,
)
"""Events of a turn that are not needed once the turn is over: `TurnEnded` repeats what counts."""


class NewerEventError(Exception):
    """A newer version of this program has written to the session. It is not read, nor guessed at.

    Its text names the kind of the row, and nothing of its content.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(f"a newer version wrote an event of the kind {kind!r}")
        self.kind = kind


class BrokenEventError(Exception):
    """The body of a row is not what its kind says. Its text has nothing of the content."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"an event of the kind {kind!r} cannot be read")
        self.kind = kind


class Encoded(Struct, frozen=True):
    """An event, and the row that it is written as."""

    event: Event
    """What `body` decodes to: use this one from here on."""
    kind: str
    body: bytes
    detail: bool


_KINDS: Final[dict[str, type[Struct]]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(Event)
}
_DECODERS: Final[dict[str, msgspec.json.Decoder[Event]]] = {
    kind: msgspec.json.Decoder(event) for kind, event in _KINDS.items()
}
_ENCODE: Final = msgspec.json.Encoder().encode


def encode(event: Event) -> Encoded:
    """Write an event.

    Half of a surrogate pair, which is no character and has no UTF-8, becomes U+FFFD.
    """
    try:
        body = _ENCODE(event)
    except UnicodeEncodeError:
        event = mended(event)
        body = _ENCODE(event)
    kind = str(event.__struct_config__.tag)
    return Encoded(event, kind, body, isinstance(event, DETAILS))


def row_of(event: Event) -> tuple[str, bytes, bool]:
    """Write an event: its kind, its body, and whether it is a detail."""
    encoded = encode(event)
    return encoded.kind, encoded.body, encoded.detail


def event_of(kind: str, body: bytes) -> Event:
    """Read an event.

    Raises:
        NewerEventError: its kind or version is not known.
        BrokenEventError: its body is not of this kind.

    """
    decoder = _DECODERS.get(kind)
    if decoder is None:
        raise NewerEventError(kind)
    try:
        event: Event = decoder.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise BrokenEventError(kind) from None
    return event
