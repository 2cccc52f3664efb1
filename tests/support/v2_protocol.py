"""A `v2` protocol that received some frames, and its events in a form that compares."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from support import v2_frames as f
from turnwire.core.agent import AgentProtocol, Decoded
from turnwire.core.requests import PromptRequest
from turnwire.dialects import DIALECTS


def conversation(*frames: bytes, **ask: Any) -> AgentProtocol:
    """A conversation that heard these frames."""
    made = DIALECTS["v2"].prompt(PromptRequest(**{"text": "hi", "prompt_id": f.PROMPT} | ask))
    for frame in frames:
        made.receive_frame(frame, 0)
    return made


def plain(told: object) -> object:
    """Events with their raw JSON as bytes, which compare."""
    if told is None or isinstance(told, str):
        return told
    if isinstance(told, Decoded):
        assert (told.to_agent, told.rejection) == ((), None)
        told = told.events
    assert isinstance(told, Sequence)
    return [
        {
            "event": type(event),
            **{
                name: bytes(value) if isinstance(value := getattr(event, name), Raw) else value
                for name in event.__struct_fields__
            },
        }
        for event in told
    ]
