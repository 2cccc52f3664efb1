"""What one frame tells, in portions that take a short time each."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Raw

from turnwire.core.events import Event, Question, ReasoningDelta, TextDelta, ToolUpdate

EVENTS: Final = 256
"""Events of a portion, at most."""

SIZE: Final = 65_536
"""Bytes or characters of a portion, about: one event alone may be larger."""

PIECE: Final = 16_384
"""Longest text where texts are cut into words, in characters."""


def portions(told: Sequence[Event], *, cut: bool) -> Iterator[list[Event]]:
    """Events in their order; `cut` where a client counts words, each of which is a chunk."""
    portion: list[Event] = []
    size = 0
    for event in _cut(told) if cut else told:
        own = _size(event)
        if portion and (len(portion) >= EVENTS or size + own > SIZE):
            yield portion
            portion, size = [], 0
        portion.append(event)
        size += own
    if portion:
        yield portion


def _cut(told: Sequence[Event]) -> Iterator[Event]:
    for event in told:
        match event:
            case TextDelta(text) if len(text) > PIECE:
                for at in range(0, len(text), PIECE):
                    yield TextDelta(text[at : at + PIECE])
            case ReasoningDelta(text) if len(text) > PIECE:
                for at in range(0, len(text), PIECE):
                    yield ReasoningDelta(text[at : at + PIECE])
            case _:
                yield event


def _size(event: Event) -> int:
    match event:
        case TextDelta(text) | ReasoningDelta(text):
            return len(text)
        case ToolUpdate(args=args, result=result):
            return _length(args) + _length(result)
        case Question(payload=payload):
            return len(payload)
        case _:
            return 0


def _length(raw: Raw | None) -> int:
    return 0 if raw is None else len(raw)
