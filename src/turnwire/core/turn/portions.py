"""Splits the events of one long frame into portions that take a short time each.

`portions` yields the lists of events. Between two of them the event loop can do other work.
"""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from msgspec import Raw

from turnwire.core.events import (
    AgentStatus,
    Alive,
    Event,
    FilePart,
    Question,
    QuestionClosed,
    Queued,
    ReasoningDelta,
    Rejected,
    ReplayFinished,
    ReplayStarted,
    ReplayUncertain,
    Replied,
    Send,
    SourceUrl,
    TextDelta,
    ToolUpdate,
    TurnFinished,
    TurnStarted,
)

EVENTS: Final = 256
"""Most events of a portion."""

SIZE: Final = 65_536
"""Approximate size limit of a portion, in bytes or characters. A single event may be larger."""

PIECE: Final = 16_384
"""Longest piece of a text that is split before it is cut into words, in characters."""


def portions(events: Sequence[Event], *, split_texts: bool) -> Iterator[list[Event]]:
    """Yield the events in their order, as lists of limited size; without events, one empty list.

    `split_texts`: also split long texts. It is set if the client counts words, each of which is a
    chunk of its own.
    """
    portion: list[Event] = []
    size = 0
    for event in _split_texts(events) if split_texts else events:
        event_size = _size(event)
        if portion and (len(portion) >= EVENTS or size + event_size > SIZE):
            yield portion
            portion, size = [], 0
        portion.append(event)
        size += event_size
    yield portion


def _split_texts(events: Sequence[Event]) -> Iterator[Event]:
    for event in events:
        match event:
            case TextDelta(text) if len(text) > PIECE:
                for start in range(0, len(text), PIECE):
                    yield TextDelta(text[start : start + PIECE])
            case ReasoningDelta(text) if len(text) > PIECE:
                for start in range(0, len(text), PIECE):
                    yield ReasoningDelta(text[start : start + PIECE])
            case (
                TextDelta()
                | TurnStarted()
                | ReplayStarted()
                | ReplayUncertain()
                | ReplayFinished()
                | ReasoningDelta()
                | ToolUpdate()
                | FilePart()
                | SourceUrl()
                | AgentStatus()
                | Question()
                | Replied()
                | QuestionClosed()
                | TurnFinished()
                | Alive()
                | Queued()
                | Rejected()
                | Send()
            ):
                yield event
            case _:
                assert_never(event)


def _size(event: Event) -> int:
    match event:
        case TextDelta(text) | ReasoningDelta(text):
            return len(text)
        case ToolUpdate(args=args, result=result):
            return _length(args) + _length(result)
        case Question(payload=payload):
            return len(payload)
        case (
            TurnStarted()
            | ReplayStarted()
            | ReplayUncertain()
            | ReplayFinished()
            | FilePart()
            | SourceUrl()
            | AgentStatus()
            | Replied()
            | QuestionClosed()
            | TurnFinished()
            | Alive()
            | Queued()
            | Rejected()
            | Send()
        ):
            return 0
        case _:
            assert_never(event)


def _length(raw: Raw | None) -> int:
    return 0 if raw is None else len(raw)
