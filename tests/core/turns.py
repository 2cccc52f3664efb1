"""Turns in a certain state, and what comes out of them."""

import json
from typing import Any

from core import frames as f
from turnwire.core.act import Act
from turnwire.core.dialect import Ask
from turnwire.core.limits import Limits
from turnwire.core.turn import Turn
from turnwire.dialects import DIALECTS

RUNNING = (f.begin(), f.part("a"))
TOOL = (*RUNNING, f.tool("running", args={}))
QUESTION = (*RUNNING, f.question())
BOTH = (*TOOL, f.question())
QUEUED = (f.create("turn-0", promptId="p0"),)
NOTHING = Act()


def opened(*frames: bytes, **limits: Any) -> Turn:
    """A turn whose connection stands since 0, and that heard these frames at 1."""
    turn = Turn(DIALECTS["v2"].prompt(Ask(text="hi", prompt_id=f.PROMPT)), Limits(**limits))
    turn.opened(0)
    if frames:
        turn.frames(frames, 1)
    return turn


def verdict(act: Act) -> str | None:
    """The error that this write ends the stream with."""
    lines = act.write.decode().split("\n")
    if "data: [DONE]" not in lines:
        return None
    errors = [line for line in lines if line.startswith('data: {"type":"error"')]
    return str(json.loads(errors[0].removeprefix("data: "))["errorText"]) if errors else ""


def told(act: Act) -> list[str]:
    return [json.loads(frame)["type"] for frame in act.tell]


def wait(turn: Turn, until: float) -> list[tuple[float, Act]]:
    """Tick at each deadline, as a caller does; what came of it, and when."""
    acts = []
    while turn.outcome is None and turn.deadline <= until:
        now = turn.deadline
        acts.append((now, turn.tick(now)))
        assert turn.deadline > now, "the caller would spin"
    return acts
