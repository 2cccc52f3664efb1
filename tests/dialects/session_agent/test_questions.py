"""Questions and approvals, told alike whatever the revision (page 4.4)."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, plain, receive_frame
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.events import Question, QuestionClosed


def prompt(**fields: Any) -> bytes:
    told = {"id": "q1", "type": "approval", "title": "Send?", "context": {}, **fields}
    return f.frame("interactive_prompt", prompt=told)


def payload(frame: bytes, revision: str = "V") -> dict[str, Any]:
    (question,) = receive_frame(conversation(*f.running(revision)), frame)
    assert isinstance(question, Question)
    read: dict[str, Any] = json.loads(bytes(question.payload))
    return read


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_is_told_alike_in_every_revision(revision: str) -> None:
    frame = f.asked(revision, "q1", "Deploy?", ["yes", "no"], 1795300000)

    assert payload(frame, revision) == {
        "questionId": "q1",
        "text": "Deploy?",
        "options": ["yes", "no"],
        "expiresAt": 1795300000000,
    }


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        pytest.param(
            prompt(
                body="To b@x",
                actions=[{"id": "allow_once", "label": "Allow"}],
                expiresAt=5,
                context={"toolId": "t", **f.CHANNEL},
            ),
            {
                "questionId": "q1",
                "text": "Send?",
                "promptType": "approval",
                "body": "To b@x",
                "actions": [{"id": "allow_once", "label": "Allow"}],
                "expiresAt": 5,
                "context": {"toolId": "t", **f.CHANNEL},
            },
            id="an approval",
        ),
        pytest.param(
            prompt(type="question", actions=[{"id": "option_0", "label": "yes"}]),
            {"questionId": "q1", "text": "Send?", "options": ["yes"]},
            id="options from the actions",
        ),
        pytest.param(
            prompt(type="question", actions=[], expiresAt="soon"),
            {"questionId": "q1", "text": "Send?"},
            id="no options, and no time",
        ),
        pytest.param(
            prompt(type="question", actions={"a": 1}, expiresAt=1e999, context=7),
            {"questionId": "q1", "text": "Send?"},
            id="odd fields",
        ),
    ],
)
def test_what_a_prompt_says(frame: bytes, told: dict[str, Any]) -> None:
    assert payload(frame) == told


@pytest.mark.nameless(
    "`question`, `interactive_prompt`, `agentStatus`, `chunk`, `message.updated` without a channel",
    "if our channel is `web`, `default`, and our prompt is being worked on",
    "a missing channel means this one; the last two also name their turn",
)
@pytest.mark.parametrize(
    ("frame", "is_ours"),
    [
        (prompt(), True),
        (prompt(context=f.CHANNEL), True),
        (prompt(context={**f.CHANNEL, "channelId": "c2"}), False),
        (prompt(context=f.THREAD), False),
        (f.asked("R"), True),
        (f.frame("question", questionId="q1", channelType="web", channelId="c2"), False),
    ],
)
def test_a_question_belongs_to_the_turn_of_its_channel(frame: bytes, *, is_ours: bool) -> None:
    made = conversation(*f.running("V"))

    assert bool(receive_frame(made, frame)) == is_ours
    assert made.frame_stats.foreign == (not is_ours)


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_from_before_our_prompt_is_not_ours(revision: str) -> None:
    made = conversation(f.init(revision))

    assert receive_frame(made, f.asked(revision), f.expired(revision)) == []


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_is_closed_by_id_and_once(revision: str) -> None:
    made = conversation(*f.running(revision), f.asked(revision, "q1"), f.asked(revision, "q2"))

    answered, expired = f.answered(revision, "q1"), f.expired(revision, "q2")

    assert plain(receive_frame(made, answered)) == plain(
        [QuestionClosed("q1", answer=Raw(b'"yes"'))]
    )
    assert receive_frame(made, expired) == [QuestionClosed("q2", expired=True)]
    assert receive_frame(made, answered, expired) == []
    assert made.frame_stats.foreign == 2


@pytest.mark.parametrize(
    ("resolution", "answer"),
    [
        ({"actionId": "allow_once", "resolvedBy": "u1"}, b'"allow_once"'),
        ({"actionId": "__failed__"}, b'"__failed__"'),
        ({}, None),
    ],
)
def test_an_approval_is_resolved_by_an_action(
    resolution: dict[str, str], answer: bytes | None
) -> None:
    made = conversation(*f.running("V"), prompt())
    frame = f.frame("interactive_prompt_resolved", promptId="q1", resolution=resolution)

    ((_, closed),) = plain(receive_frame(made, frame))

    assert closed["answer"] == answer


def test_an_answer_that_r_does_not_tell_closes_the_question() -> None:
    made = conversation(*f.running("R"), f.asked("R"))

    assert receive_frame(made, f.status(questionAnswered="q1")) == [QuestionClosed("q1")]


def test_the_questions_remembered_are_bounded() -> None:
    made = conversation(
        *f.running("R"), *(f.asked("R", f"q{n}") for n in range(OPEN_QUESTIONS_MAX + 1))
    )

    assert receive_frame(made, f.expired("R", "q0")) == []
    assert receive_frame(made, f.expired("R", "q1"))
