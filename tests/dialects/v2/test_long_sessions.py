"""Sessions that are long, or full: twice as much is twice the work, and not four times."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

import pytest

from support import v2_frames as f
from support.continued import REQUESTS
from turnwire.core.requests import HistoryRequest, PromptRequest, ResumeRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import ClientLeft, Opened
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

V2: Final = DIALECTS["v2"]
LOOK: Final = ResumeRequest(user_id="u1", init_s=5)
BUSY: Final = {"runningTurnId": f.OURS}


def steps(work: Callable[[], object]) -> int:
    """How many calls a piece of work takes: a measure that no clock disturbs."""
    count = 0

    def step(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(step)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def read_history(turns: int) -> Callable[[], object]:
    messages: list[dict[str, Any]] = []
    for number in range(turns):
        text = {"type": "text", "text": "hi"}
        its_id = f"m{number}"
        messages.append({"id": f"e{number}", "role": "user", "clientMessageId": its_id})
        parts = [text, {"type": "finish", "reason": "end_turn"}]
        messages.append({"id": f"t{number}", "role": "assistant", "parts": parts})
    init = f.frame("init", session={"messages": messages}, data={})
    recalling = V2.read_history(HistoryRequest(user_id="u1", init_s=5, verdict_s=5, limit=10))
    recalling.connection_opened(0)
    return lambda: recalling.receive_frame(init, 1)


def resume_questions(questions: int) -> Callable[[], object]:
    parts = [{"type": "question", "questionId": f"q{number}"} for number in range(questions)]
    turn = {"id": f.OURS, "role": "assistant", "parts": parts}
    init = f.frame("init", session={"messages": [turn]}, data=BUSY)
    resumed = Turn(
        V2.resume(LOOK), Limits(hold_s=10), UIMessageStream(StreamOptions(approvals=REQUESTS))
    )
    resumed.handle(Opened(), 0)
    return lambda: resumed.frames([init], 1)


def follow_one_turn(streams: int) -> Callable[[], object]:
    group = SessionGroup()

    def follow() -> None:
        for _ in range(streams):
            member = Member(group)
            member.on_change = lambda: None
            member.follow(f.OURS)

    return follow


def wait_for_their_clients(streams: int) -> Callable[[], object]:
    group, turns = SessionGroup(), []
    for number in range(streams):
        ask = PromptRequest(text="hi", prompt_id=f"p{number}")
        turn = Turn(
            V2.prompt(ask, Member(group)),
            Limits(on_disconnect=DisconnectPolicy.GRACE),
            UIMessageStream(),
        )
        turn.handle(Opened(), 0)
        turn.handle(ClientLeft(), 1)
        turns.append(turn)
    frames = [f.part("a", "turn-9")]
    return lambda: [turn.frames(frames, 2) for turn in turns]


@pytest.mark.parametrize(
    "work", [read_history, resume_questions, follow_one_turn, wait_for_their_clients]
)
def test_twice_as_much_is_twice_the_work(work: Callable[[int], Callable[[], object]]) -> None:
    assert steps(work(400)) < 2.5 * steps(work(200))
