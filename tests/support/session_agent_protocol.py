"""A conversation that heard some frames, and what it told of them."""

import json
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from msgspec import Raw

from support import session_agent_frames as f
from support.decoded import outputs
from turnwire.core.agent import Decoded
from turnwire.core.events import Event, TurnFinished
from turnwire.core.rejection import Rejection
from turnwire.core.requests import PromptRequest
from turnwire.core.session_group import Member
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.session_agent.turn import TurnProtocol

REJECTED: Final = Decoded(rejection=Rejection.SESSION)

Output: TypeAlias = Event | str | bytes | Rejection


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


def receive_frame(made: TurnProtocol, *frames: bytes, now: float = 0) -> list[Output]:
    """What these frames told, but for mere signs of life."""
    return [told for frame in frames for told in outputs(made.receive_frame(frame, now))]


def error(told: Sequence[Output] | Decoded) -> str | None:
    """The error that this ends with, if it ends with one."""
    in_order = outputs(told) if isinstance(told, Decoded) else told
    last = in_order[-1] if in_order else None
    return last.error if isinstance(last, TurnFinished) else None


def sent(told: Decoded | str | None) -> list[dict[str, Any]]:
    assert not isinstance(told, str)
    return [] if told is None else list(map(json.loads, told.to_agent))


def plain(told: Sequence[Output]) -> list[Any]:
    """Events with their raw JSON as bytes, which compare."""
    return [
        event
        if isinstance(event, str | bytes | Rejection)
        else (
            type(event).__name__,
            {
                name: bytes(value) if isinstance(value := getattr(event, name), Raw) else value
                for name in event.__struct_fields__
            },
        )
        for event in told
    ]
