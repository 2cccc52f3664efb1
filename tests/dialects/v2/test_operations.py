"""Stop, answer and history on the `v2` wire, without a socket."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import v2_frames as f
from turnwire.core.agent import NEVER
from turnwire.core.operations import Answered, History, Operation, StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest, HistoryRequest, QuestionReply, StopRequest
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


def answering(answer: object = "yes") -> Operation[Answered]:
    given = Raw(json.dumps(answer).encode())
    return V2().answer(AnswerRequest(**WAITS, reply=QuestionReply("q1", given)))


def play(errand: Operation[Any], *frames: bytes) -> list[Json]:
    """What it sends when it hears these frames at 1."""
    assert errand.deadline == NEVER
    sent = [*errand.connection_opened(0)]
    assert errand.deadline == 5
    for frame in frames:
        if errand.result is None:
            sent += errand.receive_frame(frame, 1)
    return [json.loads(frame) for frame in sent]


# Stop.


@pytest.mark.parametrize(
    ("init", "named", "channel"),
    [
        (hello(turn(), **BUSY), None, "default"),
        (hello(turn(), **BUSY), f.OURS, "default"),
        (hello(turn(), runnerBusy=True), None, "default"),
        (hello(turn(finish(), id="t0"), turn(), runnerBusy=True), None, "default"),
        (hello(turn(channelId="C"), **BUSY), f.OURS, "C"),
    ],
    ids=[
        "what runs",
        "what runs, by its name",
        "the agent does not say what runs",
        "the last",
        "elsewhere, by its name",
    ],
)
def test_a_stop_names_the_turn_and_its_prompt(init: bytes, named: str | None, channel: str) -> None:
    errand = stopping(named)

    assert play(errand, init) == [
        {
            "type": "abort",
            "promptId": f.PROMPT,
            "channelType": "web",
            "channelId": channel,
            "turnId": f.OURS,
        }
    ]
    assert errand.result is None
    assert errand.deadline == 4
    assert play_on(errand, hello(turn(), **BUSY)) == [], "a second hello changes nothing"


def play_on(errand: Operation[Any], frame: bytes) -> list[bytes]:
    return list(errand.receive_frame(frame, 2))


@pytest.mark.parametrize(
    ("frame", "stopped", "reason"),
    [
        (f.finalize(reason="canceled"), True, "canceled"),
        (f.finalize(), False, "end_turn"),
        (f.finalize(reason="error"), False, "error"),
        (f.finalize(reason="?"), False, "end_turn"),
        (f.frame("complete", turnId=f.OURS), False, "end_turn"),
        (f.frame("error", turnId=f.OURS, error="no"), False, "error"),
    ],
)
def test_a_stop_ends_with_the_turn(frame: bytes, stopped: bool, reason: str) -> None:  # noqa: FBT001
    errand = stopping()
    open_turns = [
        f.finalize("turn-9"),
        f.frame("complete"),
        f.frame("complete", turnId="turn-9"),
        f.frame("error", error="no"),
        f.frame("error", turnId="turn-9"),
        f.frame("status"),
        b"nonsense",
    ]
    play(errand, hello(turn(), **BUSY), *open_turns)
    assert errand.result is None

    play_on(errand, frame)

    assert errand.result == StopResult(stopped, f.OURS, reason)


@pytest.mark.parametrize(
    ("init", "named", "result"),
    [
        pytest.param(
            hello(), None, StopResult(stopped=False, turn_id=None, reason="idle"), id="idle"
        ),
        pytest.param(
            hello(turn(), runnerBusy=False),
            None,
            StopResult(stopped=False, turn_id=None, reason="idle"),
            id="a turn without an end, and the agent is idle",
        ),
        pytest.param(
            hello(turn(channelId="C"), **BUSY),
            None,
            StopResult(stopped=False, turn_id=None, reason="idle"),
            id="elsewhere",
        ),
        pytest.param(
            hello(turn(finish("canceled"))),
            f.OURS,
            StopResult(stopped=True, turn_id=f.OURS, reason="canceled"),
            id="stopped before",
        ),
        pytest.param(
            hello(turn({"type": "text", "text": "a"}, finish()), turn(finish(), id="t2")),
            f.OURS,
            StopResult(stopped=False, turn_id=f.OURS, reason="end_turn"),
            id="over before",
        ),
        pytest.param(
            hello(turn(), {"id": "t9", "role": "user"}),
            "t9",
            StopResult(stopped=False, turn_id="t9", reason="idle"),
            id="unknown, and nothing runs",
        ),
        pytest.param(hello(turn(), **BUSY), "t9", Rejection.OTHER_TURN, id="another runs"),
        pytest.param(hello(**BUSY), "t9", Rejection.OTHER_TURN, id="one that has no entry"),
    ],
)
def test_there_is_nothing_to_stop(
    init: bytes, named: str | None, result: StopResult | Rejection
) -> None:
    errand = stopping(named)

    assert play(errand, init) == []
    assert errand.result == result


@pytest.mark.nameless(
    "`runningTurnId` of `init` whose entry is not there, for a stop",
    "if our channel is `web`, `default`, or the stop names the turn",
    "an entry without a channel means that; the `abort` names the turn",
)
def test_a_turn_that_has_no_entry_is_stopped_by_its_name() -> None:
    errand = stopping()

    (abort,) = play(errand, hello(**BUSY))

    assert (abort["turnId"], abort["promptId"]) == (f.OURS, "")


def test_a_stop_without_a_verdict() -> None:
    errand = stopping()
    play(errand, hello(turn(), **BUSY))

    errand.tick(3.9)
    assert errand.result is None
    errand.tick(4)
    assert errand.result == StopResult(stopped=False, turn_id=f.OURS, reason="no_verdict")


def test_an_agent_that_leaves_before_the_verdict() -> None:
    asked, unasked = stopping(), stopping(f.OURS)
    play(asked, hello(turn(), **BUSY))
    play(unasked)

    asked.connection_lost()
    unasked.connection_lost()

    assert asked.result == StopResult(stopped=False, turn_id=f.OURS, reason="no_verdict")
    assert unasked.result is Rejection.SILENT


def test_a_stop_without_a_hello_needs_a_name() -> None:
    named, nameless = stopping(f.OURS), stopping()
    play(named)
    play(nameless)

    (abort,) = map(json.loads, named.tick(5))

    assert abort["turnId"] == f.OURS
    assert list(nameless.tick(5)) == []
    assert nameless.result is Rejection.UNSUPPORTED


# Answer.


def test_an_answer_to_an_open_question_is_sent() -> None:
    errand = answering({"a": 1})

    assert play(errand, hello(turn(QUESTION), **BUSY)) == [
        {"type": "answer", "questionId": "q1", "answer": {"a": 1}}
    ]
    assert errand.result is None


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
    errand = answering()

    assert play(errand, hello(*messages, **BUSY)) == []
    assert errand.result is result


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
    errand = answering()

    play(errand, hello(turn(QUESTION), **BUSY), frame)

    assert errand.result == result


@pytest.mark.nameless(
    "`question.resolved`, `question.expired` that come to `POST …/answer` before `init`, "
    "or without one",
    "by the id alone",
    "without `init` no frame names the turn that asks; the given answer is not shown",
)
@pytest.mark.parametrize("answer", [{}, {"answer": "yes"}])
def test_what_was_answered_before_ours_was_sent_is_closed(answer: Json) -> None:
    """An agent that says no hello: ours waits for one, and somebody else is first."""
    errand = answering()

    assert play(errand, f.frame("question.resolved", questionId="q1", **answer)) == []
    assert errand.result is Rejection.CLOSED


def test_an_answer_that_cannot_be_compared() -> None:
    errand = answering()
    resolved = b'{"type":"question.resolved","questionId":"q1","answer":1e999}'

    play(errand, hello(turn(QUESTION), **BUSY), resolved)

    assert errand.result is Rejection.CLOSED


def test_an_answer_that_is_not_confirmed_counts_as_given() -> None:
    errand = answering()
    play(errand, hello(turn(QUESTION), **BUSY))

    errand.tick(4)

    assert errand.result == Answered()


def test_an_answer_without_a_hello_is_sent() -> None:
    errand = answering()
    play(errand)

    assert [json.loads(frame)["type"] for frame in errand.tick(5)] == ["answer"]


def test_an_answer_to_an_agent_that_leaves() -> None:
    errand, late = answering(), answering()
    play(errand)
    play(late, hello())

    errand.connection_lost()
    late.connection_lost()

    assert (errand.result, late.result) == (Rejection.SILENT, Rejection.UNKNOWN)


# History: what it holds is `test_v2_history`'s.


def test_a_history_without_a_hello() -> None:
    silent, left = (V2().read_history(HistoryRequest(**WAITS, limit=9)) for _ in range(2))
    play(silent)
    play(left, f.part("a"))

    assert list(silent.tick(5)) == []
    left.connection_lost()

    assert (silent.result, left.result) == (Rejection.UNSUPPORTED, Rejection.SILENT)


def test_a_history() -> None:
    errand = V2().read_history(HistoryRequest(**WAITS, limit=9))

    assert play(errand, hello(turn(finish()))) == []
    assert isinstance(errand.result, History)
    assert len(list(errand.result.entries)) == 1


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b'{"type":"message.finalize"}', id="a field is missing"),
        pytest.param(b'{"type":"no.such.frame"}', id="of no known type"),
        pytest.param(b"{", id="not JSON"),
    ],
)
def test_a_frame_that_cannot_be_read_is_no_verdict(frame: bytes) -> None:
    errand = V2().stop(StopRequest(user_id="u1", turn_id="t1", init_s=5, verdict_s=5))
    errand.connection_opened(0)

    assert errand.receive_frame(frame, 1) == ()
    assert errand.result is None
    assert errand.receive_frame(b'{"type":"init","data":{"x":NaN}}', 2) == (), "nearly JSON is read"
    assert errand.result is not None
