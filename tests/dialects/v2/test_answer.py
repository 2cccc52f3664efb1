"""`POST …/answer` on the `v2` wire: which question an answer is for, and what becomes of it."""

import json
from typing import Any, Final

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.continued import called, continued, frames_sent, question, text
from support.v2_operations import (
    BUSY,
    QUESTION,
    Json,
    answering,
    finish,
    hello,
    play,
    turn,
)
from turnwire.core.operations import Answered
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply

BOBS: Final[Json] = {"id": "turn-2", "promptId": "p2", "channelId": "bob"}
CAROLS: Final[Json] = {"id": "turn-3", "promptId": "p3", "channelId": "carol"}
RUNS: Final[Json] = {"runnerBusy": True}
CLOSED: Final[Json] = {**QUESTION, "answer": "x"}


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

    sent = play(answering(channel_id=channel), hello(*asked, **RUNS))

    assert sent == [{"type": "answer", "questionId": "q1", "answer": "yes", "turnId": turn_id}]


def test_an_id_that_is_unique_needs_no_turn() -> None:
    before = turn(CLOSED, finish(), id="turn-0")

    sent = play(answering(), hello(before, turn(QUESTION), turn(CLOSED, **BOBS), **RUNS))

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
    operation = answering()

    assert play(operation, hello(*asked, **RUNS)) == []
    assert operation.result is result


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
    assert len(play(answering(), hello(*asked, **RUNS))) == 1


def test_of_several_elsewhere_that_of_the_turn_that_runs_is_answered() -> None:
    asked = [turn(QUESTION, **BOBS), turn(QUESTION, **CAROLS)]

    (sent,) = play(answering(), hello(*asked, runningTurnId="turn-2", **RUNS))

    assert sent["turnId"] == "turn-2"


def test_of_a_turn_that_asked_twice_the_last_time_counts() -> None:
    asked = turn(CLOSED, QUESTION), turn(QUESTION, CLOSED, **BOBS)

    assert len(play(answering(), hello(*asked, **RUNS))) == 1
    assert play(answering(channel_id="bob"), hello(*asked, **RUNS)) == []


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
    operation = answering()

    play(operation, hello(turn(QUESTION), turn(QUESTION, **BOBS), **RUNS), frame)

    assert operation.result == result


def test_an_answer_that_comes_back_with_a_message_names_its_turn_where_it_must() -> None:
    unique, shared = continued(), continued()
    ours = {"id": f.OURS, "role": "assistant", "parts": [text("a"), called(), question()]}
    bobs = {**BOBS, "role": "assistant", "parts": [question()]}
    busy = {"runnerBusy": True, "runningTurnId": f.OURS}

    one = unique.frames([f.frame("init", session={"messages": [ours]}, data=busy)], 1)
    two = shared.frames([f.frame("init", session={"messages": [ours, bobs]}, data=busy)], 1)

    answer = {"type": "answer", "questionId": "q1", "answer": True}
    assert frames_sent(one) == [answer]
    assert frames_sent(two) == [answer | {"turnId": f.OURS}]


def test_an_answer_that_comes_back_is_for_the_turn_of_its_channel() -> None:
    made = continued(QuestionReply("q1", Raw(b"true")))
    bobs = {**BOBS, "role": "assistant", "parts": [question()]}
    busy = {"runnerBusy": True, "runningTurnId": "turn-2"}

    act = made.frames([f.frame("init", session={"messages": [bobs]}, data=busy)], 1)

    assert (json.dumps(frames_sent(act)), made.rejection) == ("[]", Rejection.CLOSED)


def test_an_answer_to_an_open_question_is_sent() -> None:
    operation = answering({"a": 1})

    assert play(operation, hello(turn(QUESTION), **BUSY)) == [
        {"type": "answer", "questionId": "q1", "answer": {"a": 1}}
    ]
    assert operation.result is None


@pytest.mark.parametrize(
    ("messages", "result"),
    [
        pytest.param([], Rejection.UNKNOWN, id="nothing was asked"),
        pytest.param([turn({**QUESTION, "questionId": "q2"})], Rejection.UNKNOWN, id="another"),
        pytest.param(
            [turn({**QUESTION, "answer": None})], Rejection.CLOSED, id="answered with null"
        ),
        pytest.param([turn({**QUESTION, "expired": True})], Rejection.CLOSED, id="expired"),
        pytest.param([turn(QUESTION, finish())], Rejection.CLOSED, id="its turn is over"),
    ],
)
def test_an_answer_that_is_not_sent(messages: list[Json], result: Rejection) -> None:
    operation = answering()

    assert play(operation, hello(*messages, **BUSY)) == []
    assert operation.result is result


@pytest.mark.parametrize(
    ("frame", "result"),
    [
        (f.frame("question.resolved", questionId="q1", answer="yes"), Answered()),
        (f.frame("question.resolved", questionId="q1"), Answered()),
        (f.frame("question.resolved", questionId="q1", answer="no"), Rejection.CLOSED),
        (f.frame("question.expired", questionId="q1"), Rejection.CLOSED),
        (f.frame("question.resolved", questionId="q2", answer="no"), None),
        (f.frame("question.expired", questionId="q2"), None),
        (f.part("a"), None),
    ],
)
def test_what_the_agent_says_to_an_answer(frame: bytes, result: object) -> None:
    operation = answering()

    play(operation, hello(turn(QUESTION), **BUSY), frame)

    assert operation.result == result


@pytest.mark.nameless(
    "`question.resolved`, `question.expired` that come to `POST …/answer` before `init`, "
    "or without one",
    "by the id alone",
    "without `init` no frame names the turn that asks; the given answer is not shown",
)
@pytest.mark.parametrize("answer", [{}, {"answer": "yes"}])
def test_what_was_answered_before_ours_was_sent_is_closed(answer: Json) -> None:
    """An agent that says no hello: ours waits for one, and somebody else is first."""
    operation = answering()

    assert play(operation, f.frame("question.resolved", questionId="q1", **answer)) == []
    assert operation.result is Rejection.CLOSED


def test_an_answer_that_cannot_be_compared() -> None:
    operation = answering()
    resolved = b'{"type":"question.resolved","questionId":"q1","answer":1e999}'

    play(operation, hello(turn(QUESTION), **BUSY), resolved)

    assert operation.result is Rejection.CLOSED


def test_an_answer_that_is_not_confirmed_counts_as_given() -> None:
    operation = answering()
    play(operation, hello(turn(QUESTION), **BUSY))

    operation.tick(4)

    assert operation.result == Answered()


def test_an_answer_without_a_hello_is_sent() -> None:
    operation = answering()
    play(operation)

    assert [json.loads(frame)["type"] for frame in operation.tick(5)] == ["answer"]


def test_an_answer_to_an_agent_that_leaves() -> None:
    operation, late = answering(), answering()
    play(operation)
    play(late, hello())

    operation.connection_lost()
    late.connection_lost()

    assert (operation.result, late.result) == (Rejection.SILENT, Rejection.UNKNOWN)
