"""A resumed stream that heard some frames, and what it told of them."""

import json
from collections.abc import Sequence
from typing import Any, Final

from support import session_agent_frames as f
from turnwire.core.agent import Decoded
from turnwire.core.events import TextDelta, ToolUpdate, TurnFinished
from turnwire.core.rejection import Rejection
from turnwire.core.requests import ResumeRequest
from turnwire.core.session_group import Member
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.session_agent.resume import ResumeProtocol

LATER: Final = ("A", "V")
NOTHING: Final = Decoded(rejection=Rejection.NO_TURN)
INIT_S: Final = 5.0
OTHER: Final[f.Fields] = {"channelId": "other"}


def made(
    *frames: bytes, member: Member | None = None, now: float = 0, **look: Any
) -> ResumeProtocol:
    """A resumed stream that was opened at 0, and heard these frames at `now`."""
    given: dict[str, Any] = {"user_id": f.ME, "init_s": INIT_S, **look}
    stream = SessionAgent().resume(ResumeRequest(**given), member)
    stream.connection_opened(0)
    for frame in frames:
        stream.receive_frame(frame, now)
    return stream


def turn(*parts: f.Fields, content: str = "", turn: str = f.TURN, **fields: Any) -> f.Fields:
    """A turn in R's `init`."""
    entry = {"id": turn, "role": "assistant", "content": content, "parts": list(parts)}
    return {**entry, **f.CHANNEL, **fields}


def prompt(prompt: str, **fields: Any) -> f.Fields:
    entry = {"id": prompt, "role": "user", "content": prompt, "authorId": "ann"}
    return {**entry, **f.CHANNEL, **fields}


def init_r(*entries: Any, **data: Any) -> bytes:
    """R's `init`, while its runner is busy."""
    told = json.loads(f.init("R", runnerBusy=True, **data))
    told["session"]["messages"] = entries
    return json.dumps(told).encode()


def busy(revision: str, **data: Any) -> bytes:
    """An `init` that says that the runner is busy, and not with what."""
    return f.init(revision, runnerBusy=True, **data)


def texts(told: Sequence[object]) -> list[str]:
    """The texts told, and the tools by their phase, in order."""
    found = []
    for event in told:
        match event:
            case str():
                found.append(event)
            case TextDelta(text):
                found.append(text)
            case TurnFinished(reason=reason):
                found.append(f"<{reason.value}>")
            case ToolUpdate(call_id=call_id, phase=phase):
                found.append(f"[{call_id} {phase.value}]")
            case _:
                pass
    return [text for text in found if text]
