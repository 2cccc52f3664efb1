from typing import Any

import pytest
from msgspec import Raw

from support.shown import shown
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.events import Question, QuestionClosed
from turnwire.core.ui_stream.questions import Questions

ASKED = Question("q", Raw(b'{"text":"ok?","options":["yes"],"state":"mine"}'))


def data(questions: Questions, *asked: Question | QuestionClosed) -> list[dict[str, Any]]:
    """What the last of these tells."""
    for event in asked:
        told = questions.ask(event) if isinstance(event, Question) else questions.close(event)
    records = shown(told)
    for record in records:
        assert record["id"] == record["data"]["questionId"]
    return [record["data"] for record in records]


def test_a_question_is_told_with_all_that_the_agent_said() -> None:
    assert data(Questions(), ASKED) == [
        {"text": "ok?", "options": ["yes"], "questionId": "q", "state": "open"}
    ]


@pytest.mark.parametrize(
    ("closed", "says"),
    [
        (QuestionClosed("q", answer=Raw(b'{"__proto__":1}')), {"answer": {"_proto_": 1}}),
        (QuestionClosed("q"), {}),
        (QuestionClosed("q", expired=True), {"state": "expired"}),
    ],
)
def test_a_question_is_told_again_when_it_closes(
    closed: QuestionClosed, says: dict[str, Any]
) -> None:
    (told,) = data(Questions(), ASKED, closed)

    before = {"text": "ok?", "options": ["yes"], "questionId": "q", "state": "resolved"}
    assert told == before | says


def test_a_question_is_closed_once() -> None:
    assert data(Questions(), ASKED, QuestionClosed("q"), QuestionClosed("q")) == []


def test_a_question_asked_again_is_told_anew() -> None:
    questions = Questions()

    (told,) = data(questions, ASKED, Question("q", Raw(b'{"text":"really?"}')))

    assert told == {"text": "really?", "questionId": "q", "state": "open"}
    assert len(questions) == 1


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (b'{"text":{"__proto__":1}}', {"_proto_": 1}),
        (b'{"text":' + b"[" * 50_000 + b'"__proto__"' + b"]" * 50_000 + b"}", None),
    ],
)
def test_a_payload_is_made_harmless(payload: bytes, text: object) -> None:
    (told,) = data(Questions(), Question("q\ud83d", Raw(payload)))

    assert (told.get("text"), told["questionId"]) == (text, "q\ufffd")


def test_a_long_payload_is_told_once() -> None:
    questions = Questions()
    long = Question("q", Raw(b'{"text":"' + b"x" * 70_000 + b'"}'))

    assert len(data(questions, long)[0]["text"]) == 70_000
    assert data(questions, QuestionClosed("q")) == [{"questionId": "q", "state": "resolved"}]


def test_past_the_limit_the_oldest_question_expires() -> None:
    questions = Questions()
    for number in range(OPEN_QUESTIONS_MAX):
        questions.ask(Question(f"q{number}", Raw(b"{}")))

    assert [told["state"] for told in data(questions, Question("q0", Raw(b"{}")))] == ["open"]
    told = data(questions, Question("new", Raw(b"{}")))

    assert [(one["questionId"], one["state"]) for one in told] == [
        ("q0", "expired"),
        ("new", "open"),
    ]
    assert len(questions) == OPEN_QUESTIONS_MAX


def test_at_the_end_of_the_turn_all_expire() -> None:
    questions = Questions()
    data(questions, ASKED, Question("r", Raw(b"{}")))

    assert [record["data"]["state"] for record in shown(questions.expire())] == ["expired"] * 2
    assert len(questions) == 0
