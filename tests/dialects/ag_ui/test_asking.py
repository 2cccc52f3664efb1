"""About which calls the client is asked, where a graph wants decisions about several."""

from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_decisions import CALL_A, CALL_B, SINGLE, TWO, asked, outcome, request, value
from support.ag_ui_turn import Played
from turnwire.core.bounds import OPEN_QUESTIONS_MAX


@pytest.mark.parametrize(
    ("calls", "about"),
    [
        ([], None),
        (CALL_A, None),
        ([*CALL_A, *f.whole_call("c2", "delete", '{"path":"c"}')], None),
        ([*CALL_A, *f.whole_call("c2", "remove", '{"path":"b"}')], None),
        ([*CALL_B, *CALL_A], ["c1", "c2"]),
    ],
)
def test_a_call_that_the_turn_does_not_have_makes_one_question_of_all(
    calls: list[bytes], about: Any
) -> None:
    told = (f.started(), f.text("a"), *calls, f.interrupted(outcome(TWO)))
    questions = asked(Played(*told).leave())

    if about:
        assert [each["callId"] for each in questions] == about
        return
    (question,) = questions
    assert (question["kind"], question["options"]) == ("approval", ["approve", "deny"])
    assert question["text"] == "May delete run?\n\nAnd b?"
    assert question["value"] == TWO


def test_calls_that_are_the_same_are_asked_about_in_their_order() -> None:
    twice = [*CALL_A, *f.whole_call("c2", "delete", '{"path": "a"}')]
    told = (f.started(), *twice, f.interrupted(outcome(value(request(), request()))))

    assert [each["callId"] for each in asked(Played(*told))] == ["c1", "c2"]


def test_one_about_a_call_without_an_id_finds_it_by_its_input() -> None:
    told = outcome({"type": "tool_approval", **request()})
    (question,) = asked(Played(f.started(), *CALL_A, f.interrupted(told)))

    assert question["callId"] == "c1"


MANY = value(*([request()] * OPEN_QUESTIONS_MAX))


def test_more_questions_than_may_be_open_are_one_for_each_interrupt() -> None:
    told = (f.started(), *CALL_A, f.interrupted(outcome(MANY), outcome(value(request()), "i2")))
    first, second = asked(Played(*told))

    assert [first["options"], second["options"]] == [["approve", "deny"]] * 2


def test_then_one_about_a_call_names_no_call() -> None:
    (_, question) = asked(
        Played(
            f.started(),
            *CALL_A,
            f.interrupted(outcome(MANY), outcome(SINGLE, "i2", toolCallId="c1")),
        )
    )

    assert "callId" not in question
