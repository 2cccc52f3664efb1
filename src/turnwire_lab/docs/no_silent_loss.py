"""What becomes of all that clients get nothing of: frames of each wire, fed to a real `Turn`."""

import json
from collections.abc import Iterator, Sequence

from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects import DIALECTS
from turnwire_lab.docs.lost.examples import END, LOSSES, OPENED, USER, Frame, Loss
from turnwire_lab.docs.mapping import shown


def rows() -> Iterator[tuple[str, str, str]]:
    """A row for each kind of loss: what it is, what each wire makes of it, and a note."""
    for loss in LOSSES:
        yield loss.what, "<br>".join(_cells(loss)), loss.note


def _cells(loss: Loss) -> Iterator[str]:
    for name in DIALECTS:
        if (frames := loss.frames.get(name)) is not None:
            before = [*(OPENED[name] if loss.has_begun else ()), *frames[:-1]]
            yield f"`{name}`: {becomes(name, before, frames[-1])}"


def becomes(name: str, before: Sequence[Frame], frame: Frame) -> str:
    """Return what a client gets of a frame behind others, and what counts it."""
    protocol = DIALECTS[name].prompt(PromptRequest(text="x", prompt_id="P", user_id=USER))
    turn = Turn(protocol, Limits(), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([_encoded(each) for each in before], 0)
    earlier = _counters(protocol.frame_stats)
    output = turn.handle(AgentLeft(), 0) if frame == END else turn.frames([_encoded(frame)], 0)
    lines = output.to_client.decode().split("\n")
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    counted = [text for text in _counters(protocol.frame_stats) if text not in earlier]
    return "; ".join([" → ".join(map(shown, chunks)) or "nothing", *counted])


def _counters(stats: FrameStats) -> list[str]:
    """What is counted so far, in words."""
    return [
        *(f"counted as “{what}”" for what in stats.left_out),
        *("counted by its type" for _ in stats.unrecognised),
        *(["counted as foreign"] if stats.foreign else []),
        *(["counted as malformed"] if stats.malformed else []),
    ]


def _encoded(frame: Frame) -> bytes:
    return frame.encode() if isinstance(frame, str) else json.dumps(frame).encode()
