"""Turns in a certain state, and helpers to read their outputs."""

import json
from typing import Any

from support import v2_frames as f
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

RUNNING = (f.begin(), f.part("a"))
TOOL = (*RUNNING, f.tool("running", args={}))
QUESTION = (*RUNNING, f.question())
BOTH = (*TOOL, f.question())
QUEUED = (f.create("turn-0", promptId="p0"),)
NOTHING = Output()


def opened(*frames: bytes, **limits: Any) -> Turn:
    """A turn whose connection opened at 0, and that received these frames at 1."""
    turn = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)),
        Limits(**limits),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)
    if frames:
        turn.frames(frames, 1)
    return turn


def verdict(act: Output) -> str | None:
    """The error text with which this write ends the stream."""
    lines = act.to_client.decode().split("\n")
    if "data: [DONE]" not in lines:
        return None
    errors = [line for line in lines if line.startswith('data: {"type":"error"')]
    return str(json.loads(errors[0].removeprefix("data: "))["errorText"]) if errors else ""


def sent_types(act: Output) -> list[str]:
    """The types of the frames for the agent."""
    return [json.loads(frame)["type"] for frame in act.to_agent]


def wait(turn: Turn, until: float) -> list[tuple[float, Output]]:
    """Call `tick` at each deadline, as a caller does. Returns the outputs with their times."""
    acts = []
    while turn.outcome is None and turn.deadline <= until:
        now = turn.deadline
        acts.append((now, turn.handle(Tick(), now)))
        assert turn.deadline > now, "the caller would spin"
    return acts
