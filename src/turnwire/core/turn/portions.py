"""Splits the events of one long frame into portions that take a short time each.

Between two portions the event loop can do other work.
"""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from msgspec import Raw

from turnwire.core.agent import Decoded
from turnwire.core.events import (
    AgentStatus,
    DataPart,
    Event,
    FilePart,
    PartsRetracted,
    Question,
    QuestionClosed,
    Queued,
    ReasoningDelta,
    ReplayFinished,
    ReplayStarted,
    ReplayUncertain,
    Replied,
    SourceUrl,
    StepStarted,
    TextBreak,
    TextDelta,
    TextSwitch,
    ToolInputDelta,
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


def portions(decoded: Decoded, *, split_texts: bool) -> Iterator[Decoded]:
    """Yield the events in their order, in portions of limited size; without events, one portion.

    The last portion has what is not an event: the frames to send, the rejection, the request for
    another connection.
    `split_texts`: also split long texts. It is set if the client counts words, each of which is a
    chunk of its own.
    """
    portion: list[Event] = []
    size = 0
    for event in _split_texts(decoded.events) if split_texts else decoded.events:
        event_size = _size(event)
        if portion and (len(portion) >= EVENTS or size + event_size > SIZE):
            yield Decoded(portion)
            portion, size = [], 0
        portion.append(event)
        size += event_size
    yield Decoded(portion, decoded.to_agent, decoded.rejection, decoded.connect)


def with_more(all_portions: Iterator[Decoded]) -> Iterator[tuple[Decoded, bool]]:
    """Yield each portion, and whether more of them follow."""
    portion = next(all_portions)
    for following in all_portions:
        yield portion, True
        portion = following
    yield portion, False


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
                | TextBreak()
                | TextSwitch()
                | StepStarted()
                | PartsRetracted()
                | ToolInputDelta()
                | ToolUpdate()
                | FilePart()
                | SourceUrl()
                | DataPart()
                | AgentStatus()
                | Question()
                | Replied()
                | QuestionClosed()
                | TurnFinished()
                | Queued()
            ):
                yield event
            case _:
                assert_never(event)


def _size(event: Event) -> int:
    match event:
        case TextDelta(text) | ReasoningDelta(text) | ToolInputDelta(text=text):
            return len(text)
        case DataPart(data=data):
            return len(data)
        case ToolUpdate(args=args, result=result):
            return _length(args) + _length(result)
        case Question(payload=payload):
            return len(payload)
        case (
            TurnStarted()
            | ReplayStarted()
            | ReplayUncertain()
            | ReplayFinished()
            | TextBreak()
            | TextSwitch()
            | StepStarted()
            | PartsRetracted()
            | FilePart()
            | SourceUrl()
            | AgentStatus()
            | Replied()
            | QuestionClosed()
            | TurnFinished()
            | Queued()
        ):
            return 0
        case _:
            assert_never(event)


def _length(raw: Raw | None) -> int:
    return 0 if raw is None else len(raw)
