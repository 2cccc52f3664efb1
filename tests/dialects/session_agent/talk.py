"""A conversation that heard some frames, and what it told of them."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from dialects.session_agent import frames as f
from turnwire.core.dialect import Ask
from turnwire.core.events import Alive, Event, Send, Told, TurnFinished
from turnwire.core.room import Seat
from turnwire.dialects.session_agent.conversation import Conversation
from turnwire.dialects.session_agent.dialect import SessionAgent


def conversation(
    *frames: bytes, seat: Seat | None = None, now: float = 0, **ask: Any
) -> Conversation:
    """It was opened at 0, and heard these frames at `now`."""
    asked = Ask(**{"text": "two", "prompt_id": "p1", "user_id": f.ME} | ask)
    made = SessionAgent().prompt(asked, seat)
    made.open(0)
    for frame in frames:
        made.hear(frame, now)
    return made


def hear(made: Conversation, *frames: bytes, now: float = 0) -> list[Event | str]:
    """What these frames told, but for mere signs of life."""
    told: list[Event | str] = []
    for frame in frames:
        said = made.hear(frame, now)
        told += [said] if isinstance(said, str) else said
    return [event for event in told if not isinstance(event, Alive)]


def error(told: Sequence[Event | str]) -> str | None:
    """The error that this ends with, if it ends with one."""
    last = told[-1] if told else None
    return last.error if isinstance(last, TurnFinished) else None


def sent(told: Told) -> list[dict[str, Any]]:
    assert not isinstance(told, str)
    return [json.loads(event.frame) for event in told if isinstance(event, Send)]


def plain(told: Sequence[Event | str]) -> list[Any]:
    """Events with their raw JSON as bytes, which compare."""
    return [
        event
        if isinstance(event, str)
        else (
            type(event).__name__,
            {
                name: bytes(value) if isinstance(value := getattr(event, name), Raw) else value
                for name in event.__struct_fields__
            },
        )
        for event in told
    ]
