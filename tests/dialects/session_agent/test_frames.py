"""Frames that are nested almost too deeply: the limit is a look's own, and some take two looks."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from support import session_agent_frames as f
from turnwire.core.operations import Operation
from turnwire.core.requests import (
    AnswerRequest,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StopRequest,
)
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

DIALECT = DIALECTS["session-agent"]
DEPTHS = (500, *range(860, 1010), 2_000, 100_000)
HOLE = "hole"
REPLIES = [QuestionReply("q1", Raw(b'"y"'))]

ARGS = f.updated(f.tool("running", args=HOLE))
INIT = f.frame(
    "init", session={"id": "s", "messages": [{"id": "m", "parts": HOLE}]}, data={"runnerBusy": True}
)
APPROVAL = f.frame(
    "interactive_prompt",
    prompt={"id": "q1", "type": "approval", "title": "t", "context": {**f.CHANNEL, "x": HOLE}},
    **f.CHANNEL,
)


def follow(frame: bytes) -> None:
    turn = Turn(
        DIALECT.prompt(PromptRequest(text="two", prompt_id="p1", user_id=f.ME)),
        Limits(),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)
    turn.frames([*f.running("V"), frame], 1)

    assert b"still here" in turn.frames([f.chunk("still here")], 2).to_client


def greet(frame: bytes) -> None:
    turn = Turn(
        DIALECT.prompt(PromptRequest(text="two", prompt_id="p1", user_id=f.ME)),
        Limits(),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)
    turn.frames([frame, *f.running("V")], 1)

    assert turn.outcome is None


def resume(*frames: bytes, replies: list[QuestionReply] | None = None) -> None:
    look = ResumeRequest(user_id=f.ME, init_s=5, replies=replies or [])
    turn = Turn(DIALECT.resume(look), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames(frames, 1)

    assert turn.frames_received == len(frames)


def go_on(frame: bytes) -> None:
    resume(frame, f.init("V", runnerBusy=True), frame, replies=REPLIES)


def operations() -> list[Operation[Any]]:
    answer = AnswerRequest(
        user_id=f.ME, init_s=5, verdict_s=5, reply=QuestionReply("q1", Raw(b'"y"'))
    )
    return [
        DIALECT.stop(StopRequest(user_id=f.ME, init_s=5, verdict_s=5)),
        DIALECT.answer(answer),
        DIALECT.read_history(HistoryRequest(user_id=f.ME, init_s=5, verdict_s=5, limit=100)),
    ]


def ask(*frames: bytes) -> None:
    for operation in operations():
        operation.connection_opened(0)
        for frame in frames:
            operation.receive_frame(frame, 1)
        for later in (100, 200, 300):
            operation.tick(later)

        assert operation.result is not None


CASES: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "a call": (follow, ARGS),
    "hello": (greet, INIT),
    "a call of a turn that is resumed": (
        lambda frame: resume(f.init("V", runnerBusy=True), frame),
        ARGS,
    ),
    "hello to a resumed one": (resume, INIT),
    "hello to one that answers": (go_on, INIT),
    "hello to an errand": (ask, INIT),
    "a call, heard by an errand": (lambda frame: ask(f.init("V", runnerBusy=True), frame), ARGS),
    "an approval": (lambda frame: ask(f.init("V", runnerBusy=True), frame), APPROVAL),
}


@pytest.mark.parametrize(("told", "frame"), CASES.values(), ids=list(CASES))
@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_no_depth_breaks_anything(
    told: Callable[[bytes], None], frame: bytes, begin: bytes, end: bytes
) -> None:
    for depth in DEPTHS:
        told(frame.replace(f'"{HOLE}"'.encode(), begin * depth + b"1" + end * depth))
