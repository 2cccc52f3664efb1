"""About which calls the client is asked, where a graph wants decisions about several."""

import json
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_decisions import (
    CALL_A,
    CALL_B,
    SINGLE,
    TWO,
    WHOLE_TEXT,
    WHOLE_TEXT_OF_TWO,
    A,
    B,
    asked,
    outcome,
    request,
    value,
)
from support.ag_ui_turn import Played
from support.continued import REQUESTS
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.ui_stream.output import StreamOptions


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
    assert question["text"] == WHOLE_TEXT_OF_TWO
    assert question["value"] == TWO


def test_calls_that_are_the_same_are_asked_about_in_their_order() -> None:
    twice = [*CALL_A, *f.whole_call("c2", "delete", '{"path": "a"}')]
    told = (f.started(), *twice, f.interrupted(outcome(value(request(), request()))))

    assert [each["callId"] for each in asked(Played(*told))] == ["c1", "c2"]


def test_one_about_a_call_without_an_id_finds_it_by_its_input() -> None:
    told = outcome({"type": "tool_approval", **request()})
    (question,) = asked(Played(f.started(), *CALL_A, f.interrupted(told)))

    assert question["callId"] == "c1"


@pytest.mark.parametrize(
    "told",
    [
        {**SINGLE, "args": B},
        {**SINGLE, "name": "remove"},
        {**SINGLE, "tool_call_id": "c2"},
        {**SINGLE, "tool_call_id": "c2", "name": "remove", "args": B},
    ],
)
def test_one_about_a_call_that_shows_another_tool_or_input_names_no_call(told: Any) -> None:
    """A middleware may run a call with other arguments than those of the model."""
    other = f.whole_call("c2", "weather", '{"path":"b"}')
    (question,) = asked(Played(f.started(), *CALL_A, *other, f.interrupted(outcome(told))))

    assert "callId" not in question
    assert question["text"].endswith(f"{told['name']} {json.dumps(told['args'])}")


@pytest.mark.parametrize(
    "told",
    [
        [value(request()), value(request())],
        [{**SINGLE, "tool_call_id": "c2"}, value(request())],
        [{"type": "tool_approval", **request()}, SINGLE | {"tool_call_id": "c2"}],
    ],
)
def test_two_interrupts_about_calls_that_are_the_same_are_about_one_each(told: list[Any]) -> None:
    twice = [*CALL_A, *f.whole_call("c2", "delete", '{"path": "a"}')]
    spelled = [outcome(each, f"i{number}") for number, each in enumerate(told)]
    questions = asked(Played(f.started(), *twice, f.interrupted(*spelled)))

    assert {each["callId"] for each in questions} == {"c1", "c2"}


def test_a_further_one_about_a_call_that_is_taken_names_no_call() -> None:
    told = f.interrupted(outcome(value(request())), outcome(SINGLE, "i2"))
    first, second = asked(Played(f.started(), *CALL_A, told))

    assert (first["callId"], second.get("callId")) == ("c1", None)
    assert second["text"] == WHOLE_TEXT


NAMING = {"id": "i2", "reason": "tool_call", "toolCallId": "c1"}
"""An interrupt that asks a yes or a no about a call, and wants no decision."""


@pytest.mark.parametrize(
    "told",
    [
        [outcome(value(request())), NAMING],
        [NAMING, outcome(value(request()))],
        [NAMING, outcome(SINGLE)],
        [NAMING, {**NAMING, "id": "i3"}],
    ],
)
@pytest.mark.parametrize("native", [False, True])
def test_no_two_approvals_are_at_one_card(told: list[Any], *, native: bool) -> None:
    """Its client would have room for one of their answers, and the next run needs both."""
    options = StreamOptions(approvals=REQUESTS) if native else StreamOptions()
    played = Played(
        *(f.started(), *CALL_A, f.interrupted(*told)), native=native, options_of_stream=options
    ).leave()
    questions = asked(played)

    assert len(questions) == len({each["questionId"] for each in questions}) == 2
    assert played.client.approvals == {}
    for each in questions:
        played.reply(each["questionId"], answer=False)
    assert len(played.requests[-1]["resume"]) == 2
    assert b'"approve"' not in json.dumps(played.requests[-1]["resume"]).encode()


def test_beside_a_question_about_another_call_there_is_no_approval() -> None:
    """Its client answers the approval in a request of its own, and would leave the question."""
    options = StreamOptions(approvals=REQUESTS)
    other = {"id": "i3", "reason": "input_required", "toolCallId": "c2"}
    told = (f.started(), *CALL_A, *CALL_B, f.interrupted(NAMING, other))
    played = Played(*told, native=True, options_of_stream=options).leave()

    assert played.client.approvals == {}
    assert [each["questionId"] for each in asked(played)] == ["i2", "i3"]


@pytest.mark.parametrize(
    "asks", [outcome(value(request())), outcome(SINGLE), {**NAMING, "message": "May it?"}]
)
def test_a_call_whose_id_is_used_again_is_asked_about_apart_from_its_card(asks: Any) -> None:
    """Its card has another id, which an answer at the card would name."""
    options = StreamOptions(approvals=REQUESTS)
    first = [*f.whole_call("c1", "weather", '{"city":"Rome"}'), f.result("sunny"), f.text("So.")]
    played = Played(
        *(f.started(), *first, *CALL_A, f.interrupted(asks)),
        native=True,
        options_of_stream=options,
    ).leave()
    (question,) = asked(played)

    assert played.calls()["c1#2"] == (A, None)
    assert (played.client.approvals, "callId" in question) == ({}, False)
    if asks.get("message"):
        assert (question["toolName"], question["args"]) == ("delete", A)
    else:
        assert question["text"] == WHOLE_TEXT
    played.reply(question["questionId"], answer=True).open_again()
    run = played.requests[-1]["runId"]
    played.tell(f.started(run), *CALL_A, f.result("gone", message="t2"), f.finished(run))
    assert played.calls() == {"c1": ({"city": "Rome"}, "sunny"), "c1#2": (A, "gone")}
    played.client.close()


@pytest.mark.parametrize(
    "asks",
    [{**NAMING, "id": "i5", "toolCallId": "c2"}, outcome(value(request(args=B)), "i5")],
)
def test_an_agent_may_ask_about_its_calls_one_after_the_other(asks: Any) -> None:
    """When it asks about the first one, the second one gets an error in place of a result."""
    played = Played(f.started(), *CALL_A, *CALL_B, f.interrupted(NAMING)).leave()
    played.reply("i2", answer=True).open_again()
    run = played.requests[-1]["runId"]
    played.tell(f.started(run), f.result("gone"), f.interrupted(asks, run=run)).leave()
    question = asked(played)[-1]

    if "toolCallId" in asks:
        shown = (question["callId"], question["toolName"], question["args"])
        assert (shown, question["kind"]) == (("c2", "delete", B), "approval")
    else:
        assert question["text"].endswith('delete {"path": "b"}')
    played.reply(question["questionId"], answer=True).open_again()
    run = played.requests[-1]["runId"]
    played.tell(f.started(run), f.result("b gone", "c2", "t2"), f.finished(run))
    assert played.calls() == {"c1": (A, "gone"), "c2": (B, "b gone")}
    played.client.close()


def test_a_decision_is_about_the_other_one_of_two_calls_that_are_the_same() -> None:
    twice = [*CALL_A, *f.whole_call("c2", "delete", '{"path": "a"}')]
    told = f.interrupted(outcome(value(request())), NAMING)

    assert [each["callId"] for each in asked(Played(f.started(), *twice, told))] == ["c2", "c1"]


def test_a_message_of_the_interrupt_is_told_before_the_calls() -> None:
    told = outcome(value(request()), message="Look!")
    (question,) = asked(Played(f.started(), f.text("a"), f.interrupted(told)))

    assert question["text"] == f"Look!\n\n{WHOLE_TEXT}"


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
