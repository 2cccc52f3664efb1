"""The answer operation on the `session-agent` wire, and what it sends."""

import json
from typing import Any

from msgspec import Raw

from support import session_agent_frames as f
from turnwire.core.requests import AnswerRequest, QuestionReply
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.session_agent.answer import AnswerOperation


def answering(answer: Any = "yes", question_id: str = "q1", **more: Any) -> AnswerOperation:
    raw = Raw(json.dumps(answer).encode())
    reply = QuestionReply(question_id, raw, more.pop("subject", None))
    asked = AnswerRequest(user_id=f.ME, init_s=2, verdict_s=5, reply=reply, **more)
    made = SessionAgent().answer(asked)
    assert made.connection_opened(0) == ()
    return made


def receive_frame(made: AnswerOperation, *frames: bytes) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    for frame in frames:
        assert made.result is None
        sent += map(json.loads, made.receive_frame(frame, 0))
    return sent
