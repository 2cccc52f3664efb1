"""What extensions ask and show."""

import json
from typing import Any

import pytest
from msgspec import Raw

import turnwire.dialect as td
from lines import Json
from pi_dialect.dialogs import NOBODY, TOO_MANY
from played import Played


def answered(answer: Any, method: str, **fields: Any) -> Json:
    """What the extension is answered."""
    played = Played().begun()
    played.ui(method, "q1", title="Which?", **fields)
    reply = td.QuestionReply("q1", Raw(json.dumps(answer).encode()))
    played.take(played.turn.reply(reply, "u1", 0.0))
    assert isinstance(played.events[-1], td.QuestionClosed)
    assert played.turn.reply(reply, "u1", 0.0) == td.Decoded(), "it is open no more"
    sent: Json = played.sent[-1]
    assert (sent.pop("type"), sent.pop("id")) == ("extension_ui_response", "q1")
    return sent


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Allow", {"value": "Allow"}),
        ({"value": "Block"}, {"value": "Block"}),
        ({"optionId": "Block"}, {"value": "Block"}),
        ("Perhaps", {"cancelled": True}),
        (None, {"cancelled": True}),
        (7, {"cancelled": True}),
    ],
)
def test_a_choice_is_one_of_its_options_or_none(answer: Any, expected: Json) -> None:
    assert answered(answer, "select", options=["Allow", "Block"]) == expected


@pytest.mark.parametrize("method", ["input", "editor"])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("a text", {"value": "a text"}),
        ("", {"value": ""}),
        ([1, 2], {"value": "[1, 2]"}),
        ({"value": "a text"}, {"value": "a text"}),
        (False, {"cancelled": True}),
        ({"approved": False}, {"cancelled": True}),
    ],
)
def test_a_text_is_what_the_user_wrote(method: str, answer: Any, expected: Json) -> None:
    assert answered(answer, method) == expected


@pytest.mark.parametrize(
    ("answer", "is_yes"),
    [
        (True, True),
        (False, False),
        ("true", False),
        ({"confirmed": True}, True),
        ({"approved": True, "confirmed": False}, False),
    ],
)
def test_a_confirm_is_yes_only_if_nothing_says_no(answer: Any, is_yes: bool) -> None:  # noqa: FBT001
    assert answered(answer, "confirm") == {"confirmed": is_yes}


def test_the_user_is_shown_all_that_the_extension_asks() -> None:
    played = Played().begun()
    fields = {"message": "It matters.", "options": ["a"], "placeholder": "p", "prefill": "f"}
    played.ui("editor", "q1", title="Which?", **fields)
    (question,) = played.of(td.Question)

    assert not question.is_approval
    assert json.loads(bytes(question.payload)) == {
        "text": "Which?\n\nIt matters.",
        "method": "editor",
        "options": ["a"],
        "placeholder": "p",
        "prefill": "f",
    }
    played.ui("confirm", "q2", title="May I?")
    assert played.of(td.Question)[1].is_approval


def test_a_question_that_nobody_can_answer_is_answered_at_once() -> None:
    played = Played(options=td.DialectOptions(has_turn_log=False)).begun()
    played.ui("input", "q1", title="Which?")

    assert played.events[-1] == td.AgentStatus("question", NOBODY)
    assert played.sent[-1] == {"type": "extension_ui_response", "id": "q1", "cancelled": True}
    assert played.turn.frame_stats.left_out == {"question that nobody can answer": 1}


def test_too_many_questions_are_answered_at_once() -> None:
    played = Played().begun()
    for number in range(td.OPEN_QUESTIONS_MAX + 1):
        played.ui("input", f"q{number}", title="Which?")

    assert played.events[-1] == td.AgentStatus("question", TOO_MANY)
    assert played.sent[-1]["cancelled"] is True


def test_an_extension_may_ask_before_the_prompt_is_sent() -> None:
    played = Played()
    played.ui("confirm", "q1", title="Trust this folder?")

    assert len(played.of(td.Question)) == 1


def test_a_question_behind_a_stop_is_answered_at_once() -> None:
    played = Played().begun()
    played.take(played.turn.begin_stop(0.0))
    played.ui("confirm", "q1", title="May I?")

    assert played.sent[-1]["cancelled"] is True
    assert not played.of(td.Question)


def test_the_deadline_is_that_of_the_first_question_to_be_decided() -> None:
    played = Played().begun()
    played.ui("input", "q1", title="Which?")
    assert played.turn.deadline == td.NEVER
    played.ui("input", "q2", title="Which?", timeout=5000)
    played.ui("input", "q3", title="Which?", timeout=2000)
    assert played.turn.deadline == 2.0
    played.tick()

    assert played.of(td.QuestionClosed) == [td.QuestionClosed("q3", expired=True)]
    assert played.turn.deadline == 5.0


def test_what_an_extension_shows_is_a_status_or_counted() -> None:
    played = Played().begun()
    played.ui("notify", "n1", message="Blocked", notifyType="warning")
    played.ui("setStatus", "n2", statusKey="k", statusText="Step 3")
    played.ui("setStatus", "n3", statusKey="k")
    for method in ("setWidget", "setTitle", "set_editor_text"):
        played.ui(method, "n4")

    assert played.of(td.AgentStatus) == [
        td.AgentStatus("notify", "Blocked"),
        td.AgentStatus("status", "Step 3"),
    ]
    assert played.turn.frame_stats.left_out == {"display of an extension": 3}
