"""The operations of the `v2` wire without a socket, and the `init` that they begin with."""

import json
from typing import Any

from msgspec import Raw

from support import v2_frames as f
from turnwire.core.agent import NEVER
from turnwire.core.operations import Answered, Operation, StopResult
from turnwire.core.requests import AnswerRequest, Channel, QuestionReply, StopRequest
from turnwire.dialects.v2 import V2

Json = dict[str, Any]


WAITS: Json = {"user_id": "u1", "init_s": 5, "verdict_s": 3}


TURN: Json = {"id": f.OURS, "role": "assistant", "promptId": f.PROMPT, "parts": []}


QUESTION: Json = {"type": "question", "questionId": "q1", "text": "ok?"}


BUSY: Json = {"runnerBusy": True, "runningTurnId": f.OURS}


def finish(reason: object = "end_turn") -> Json:
    return {"type": "finish", "reason": reason}


def turn(*parts: Json, **fields: Any) -> Json:
    return {**TURN, "parts": list(parts), **fields}


def hello(*messages: Json, **data: Any) -> bytes:
    return f.frame("init", session={"messages": list(messages)}, data=data)


def stopping(turn_id: str | None = None) -> Operation[StopResult]:
    return V2().stop(StopRequest(**WAITS, turn_id=turn_id))


def answering(answer: object = "yes", channel_id: str = "default") -> Operation[Answered]:
    given = Raw(json.dumps(answer).encode())
    reply = QuestionReply("q1", given)
    return V2().answer(AnswerRequest(**WAITS, reply=reply, channel=Channel("web", channel_id)))


def play(operation: Operation[Any], *frames: bytes) -> list[Json]:
    """What it sends when it receives these frames at 1."""
    assert operation.deadline == NEVER
    sent = [*operation.connection_opened(0)]
    assert operation.deadline == 5
    for frame in frames:
        if operation.result is None:
            sent += operation.receive_frame(frame, 1)
    return [json.loads(frame) for frame in sent]


def play_on(operation: Operation[Any], frame: bytes) -> list[bytes]:
    return list(operation.receive_frame(frame, 2))
