"""A conversation that heard some frames, and what it told of them."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from support import session_agent_frames as f
from turnwire.core.agent import PromptRequest
from turnwire.core.events import Alive, Decoded, Event, Send, TurnFinished
from turnwire.core.session_group import Member
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.session_agent.turn import TurnProtocol


def conversation(
    *frames: bytes, member: Member | None = None, now: float = 0, **ask: Any
) -> TurnProtocol:
    """It was opened at 0, and heard these frames at `now`."""
    asked = PromptRequest(**{"text": "two", "prompt_id": "p1", "user_id": f.ME} | ask)
    made = SessionAgent().prompt(asked, member)
    made.connection_opened(0)
    for frame in frames:
        made.receive_frame(frame, now)
    return made


def receive_frame(made: TurnProtocol, *frames: bytes, now: float = 0) -> list[Event | str]:
    """What these frames told, but for mere signs of life."""
    told: list[Event | str] = []
    for frame in frames:
        said = made.receive_frame(frame, now)
        told += [said] if isinstance(said, str) else said
    return [event for event in told if not isinstance(event, Alive)]


def error(told: Sequence[Event | str]) -> str | None:
    """The error that this ends with, if it ends with one."""
    last = told[-1] if told else None
    return last.error if isinstance(last, TurnFinished) else None


def sent(told: Decoded) -> list[dict[str, Any]]:
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
