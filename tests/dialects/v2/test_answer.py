"""Errands whose question, or whose turn, has the same name as another's."""

import json
from typing import Any, Final

import pytest
from msgspec import Raw

from dialects.v2.test_operations import QUESTION, WAITS, Json, finish, hello, play, stopping, turn
from support import v2_frames as f
from support.continued import called, continued, question, text, told
from turnwire.core.operations import Answered, Operation, StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest, Channel, QuestionReply
from turnwire.dialects.v2 import V2

BOBS: Final[Json] = {"id": "turn-2", "promptId": "p2", "channelId": "bob"}
CAROLS: Final[Json] = {"id": "turn-3", "promptId": "p3", "channelId": "carol"}
BUSY: Final[Json] = {"runnerBusy": True}
CLOSED: Final[Json] = {**QUESTION, "answer": "x"}


def answering(channel_id: str = "default") -> Operation[Answered]:
    reply = QuestionReply("q1", Raw(b'"yes"'))
    return V2().answer(AnswerRequest(**WAITS, reply=reply, channel=Channel("web", channel_id)))


def resolved(answer: str = "yes", **place: Any) -> bytes:
    return f.frame("question.resolved", questionId="q1", answer=answer, **place)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("channel", "turn_id"), [("default", f.OURS), ("bob", "turn-2"), ("carol", "turn-3")]
)
def test_an_answer_goes_to_the_turn_of_its_channel_and_names_it(
    channel: str, turn_id: str, order: int
) -> None:
    """An agent whose ids are unique in a turn alone could not tell them apart."""
    asked = [turn(QUESTION), turn(QUESTION, **BOBS), turn(QUESTION, **CAROLS)][::order]

    sent = play(answering(channel), hello(*asked, **BUSY))

    assert sent == [{"type": "answer", "questionId": "q1", "answer": "yes", "turnId": turn_id}]


def test_an_id_that_is_unique_needs_no_turn() -> None:
    before = turn(CLOSED, finish(), id="turn-0")

    sent = play(answering(), hello(before, turn(QUESTION), turn(CLOSED, **BOBS), **BUSY))

    assert sent == [{"type": "answer", "questionId": "q1", "answer": "yes"}]


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        pytest.param([turn(CLOSED), turn(QUESTION, **BOBS)], Rejection.CLOSED, id="ours is closed"),
        pytest.param(
            [turn(QUESTION, finish()), turn(QUESTION, **BOBS)], Rejection.CLOSED, id="ours is over"
        ),
        pytest.param(
            [turn(QUESTION, **BOBS), turn(QUESTION, **CAROLS)],
            Rejection.UNKNOWN,
            id="two wait elsewhere",
        ),
    ],
)
def test_an_answer_is_not_given_to_a_question_of_somebody_else(
    asked: list[Json], result: Rejection
) -> None:
    errand = answering()

    assert play(errand, hello(*asked, **BUSY)) == []
    assert errand.result is result


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param([turn(QUESTION, **BOBS)], id="the only one that waits"),
        pytest.param([turn(QUESTION, **BOBS), turn(CLOSED, **CAROLS)], id="the only one open"),
    ],
)
def test_a_question_of_another_channel_is_answered_where_its_id_is_the_only_one(
    asked: list[Json],
) -> None:
    assert len(play(answering(), hello(*asked, **BUSY))) == 1


def test_of_several_elsewhere_that_of_the_turn_that_runs_is_answered() -> None:
    asked = [turn(QUESTION, **BOBS), turn(QUESTION, **CAROLS)]

    (sent,) = play(answering(), hello(*asked, runningTurnId="turn-2", **BUSY))

    assert sent["turnId"] == "turn-2"


def test_of_a_turn_that_asked_twice_the_last_time_counts() -> None:
    asked = turn(CLOSED, QUESTION), turn(QUESTION, CLOSED, **BOBS)

    assert len(play(answering(), hello(*asked, **BUSY))) == 1
    assert play(answering("bob"), hello(*asked, **BUSY)) == []


@pytest.mark.parametrize(
    ("frame", "result"),
    [
        (resolved("no", turnId="turn-2"), None),
        (resolved("no", promptId="p2"), None),
        (resolved("no", channelId="bob"), None),
        (resolved("no"), None),
        (f.frame("question.expired", questionId="q1", turnId="turn-2"), None),
        (f.frame("question.expired", questionId="q1"), None),
        (resolved("no", turnId=f.OURS), Rejection.CLOSED),
        (resolved("no", promptId=f.PROMPT), Rejection.CLOSED),
        (resolved("yes", channelId="default"), Answered()),
        (f.frame("question.expired", questionId="q1", turnId=f.OURS), Rejection.CLOSED),
    ],
)
def test_the_verdict_on_another_question_of_that_id_is_not_ours(
    frame: bytes, result: object
) -> None:
    errand = answering()

    play(errand, hello(turn(QUESTION), turn(QUESTION, **BOBS), **BUSY), frame)

    assert errand.result == result


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (f.frame("complete", promptId=f.PROMPT), "end_turn"),
        (f.frame("error", error="no", promptId=f.PROMPT), "error"),
        (f.frame("error", error="no", turnId=f.OURS), "error"),
        (f.frame("complete", promptId="p2"), None),
        (f.frame("complete", promptId="p2", turnId="turn-2"), None),
        (f.frame("complete"), None),
        (f.frame("error", error="no"), None),
    ],
)
def test_a_stop_hears_of_its_own_turn_by_its_prompt_too(frame: bytes, reason: str | None) -> None:
    errand = stopping()

    play(errand, hello(turn(), **BUSY), frame)

    expected = None if reason is None else StopResult(False, f.OURS, reason)  # noqa: FBT003
    assert errand.result == expected


def test_an_answer_that_comes_back_with_a_message_names_its_turn_where_it_must() -> None:
    unique, shared = continued(), continued()
    ours = {"id": f.OURS, "role": "assistant", "parts": [text("a"), called(), question()]}
    bobs = {**BOBS, "role": "assistant", "parts": [question()]}
    busy = {"runnerBusy": True, "runningTurnId": f.OURS}

    one = unique.frames([f.frame("init", session={"messages": [ours]}, data=busy)], 1)
    two = shared.frames([f.frame("init", session={"messages": [ours, bobs]}, data=busy)], 1)

    answer = {"type": "answer", "questionId": "q1", "answer": True}
    assert told(one) == [answer]
    assert told(two) == [answer | {"turnId": f.OURS}]


def test_an_answer_that_comes_back_is_for_the_turn_of_its_channel() -> None:
    made = continued(QuestionReply("q1", Raw(b"true")))
    bobs = {**BOBS, "role": "assistant", "parts": [question()]}
    busy = {"runnerBusy": True, "runningTurnId": "turn-2"}

    act = made.frames([f.frame("init", session={"messages": [bobs]}, data=busy)], 1)

    assert (json.dumps(told(act)), made.rejection) == ("[]", Rejection.CLOSED)
