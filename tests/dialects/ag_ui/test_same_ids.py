"""Interrupts of one run with one id: the next run has one answer to all of them."""

import json
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_asking import APPROVE, FORCED, MORE_A, NO, WHY, YES, answer, ask, asking
from support.ag_ui_asking import in_request as sent
from support.ag_ui_decisions import CALL_A, CALL_B, SINGLE, A, B, asked, outcome, request, value
from support.ag_ui_turn import Played
from support.continued import REQUESTS
from turnwire.core.body.ui_message import DENIED
from turnwire.core.ui_stream.output import StreamOptions
from turnwire.dialects.ag_ui.decisions import INPUT_SHOWN_MAX
from turnwire.dialects.ag_ui.turn import UNREADABLE_QUESTION

OTHER = APPROVE | {"toolCallId": "c2", "message": "And b?"}
NAMELESS = {"id": "i1", "reason": "confirmation", "message": "Sure?"}


@pytest.mark.attack(
    "an agent that asks for the approval of two calls under one id",
    "the user gets one question that shows both calls; a no denies both",
)
@pytest.mark.parametrize("native", [False, True])
def test_one_question_is_about_both_calls(*, native: bool) -> None:
    options = StreamOptions(approvals=REQUESTS) if native else StreamOptions()
    played = Played(native=native, options_of_stream=options)
    ask(played, *CALL_A, *CALL_B, APPROVE, OTHER)
    (question,) = asked(played)

    assert played.client.approvals == {}
    assert (question["questionId"], question["kind"]) == ("i1", "approval")
    assert question["text"] == 'delete {"path":"a"}\n\nAnd b?\ndelete {"path":"b"}'
    shown = [(each["callId"], each["toolName"], each["args"]) for each in question["value"]]
    assert shown == [("c1", "delete", A), ("c2", "delete", B)]
    answer(played, NO)
    assert played.requests[-1]["resume"] == [
        {"interruptId": "i1", "status": "resolved", "payload": {"approved": False}}
    ]
    answer(ask(played, WHY), "so")
    assert [each for each in sent(played) if each[1] == DENIED] == [("c1", DENIED), ("c2", DENIED)]
    answer(ask(played, APPROVE, OTHER), YES)
    assert played.requests[-1]["resume"][0]["payload"] == {"approved": True}
    assert sent(played) == [("c1", '{"path":"a"}'), ("c2", '{"path":"b"}')]


def test_beside_another_it_is_one_of_two_questions() -> None:
    played = asking(*CALL_A, *CALL_B, OTHER, NAMELESS, APPROVE | {"id": "i2"})
    assert [each["questionId"] for each in asked(played)] == ["i1", "i2"]
    answer(played, YES, NO)
    answer(ask(played, WHY), "so")

    assert [each for each in sent(played) if each[1] == DENIED] == [("c1", DENIED)]


def test_a_decision_that_names_no_call_is_not_about_those_that_it_names() -> None:
    same = f.whole_call("c2", "delete", '{"path":"a"}')
    played = asking(*CALL_A, *same, APPROVE, NAMELESS, outcome(value(request()), "i2"))
    (_, question) = asked(played)
    assert question["callId"] == "c2"
    answer(played, YES, NO)
    answer(ask(played, WHY), "so")

    assert [each for each in sent(played) if each[1] == DENIED] == [("c2", DENIED)]


def test_what_a_run_added_to_an_input_is_shown_and_sent() -> None:
    played = answer(asking(*CALL_A, *CALL_B, WHY), "so")
    ask(played, *MORE_A, APPROVE, OTHER)
    (question,) = asked(played)[-1:]
    assert question["value"][0]["args"] == FORCED
    answer(played, YES)

    assert ("c1", json.dumps(FORCED).replace(" ", "")) in sent(played)


def test_it_is_open_until_the_first_of_them_expires_and_takes_what_all_take() -> None:
    times = ["2030-01-01T00:00:02Z", "2030-01-01T00:00:01Z"]
    closed = {"type": "object", "properties": {"approved": {}}, "additionalProperties": False}
    first = APPROVE | {"expiresAt": times[0]}
    played = asking(
        *CALL_A, *CALL_B, first, OTHER | {"expiresAt": times[1], "responseSchema": closed}
    )
    (question,) = asked(played)
    assert question["expiresAt"] == 1_893_456_001_000
    answer(played, {"approved": False, "reason": "no"})

    assert played.requests[-1]["resume"][0]["payload"] == {"approved": False}


def test_a_long_input_is_cut_in_the_text_alone() -> None:
    long = {"path": "x" * INPUT_SHOWN_MAX}
    played = asking(*f.whole_call("c1", "delete", json.dumps(long)), APPROVE, NAMELESS)
    (question,) = asked(played)

    assert "cut: these are the first 1,000" in question["text"]
    assert question["text"].endswith("Sure?")
    assert question["value"][0]["args"] == long


@pytest.mark.parametrize("twice", [APPROVE, WHY, outcome(value(request())), outcome(SINGLE)])
def test_an_interrupt_that_is_told_twice_is_one_question(twice: Any) -> None:
    played = asking(*CALL_A, twice, twice)
    (question,) = asked(played)

    assert question.get("callId") == (None if twice is WHY else "c1")
    assert "value" not in question


@pytest.mark.parametrize(
    "others",
    [
        [WHY, WHY | {"message": "Where?"}],
        [APPROVE, {"id": "i1", "reason": "input_required", "message": "Why?"}],
        [APPROVE, outcome(value(request()))],
        [outcome(value(request())), outcome(value(request(args=B)))],
        [outcome(value(request())), outcome(value(request(args=B), request()))],
        [outcome(SINGLE), outcome(SINGLE | {"tool_call_id": "c2", "args": B})],
        [outcome(value(request(args=each)), reason="tool_call") for each in (A, B)],
    ],
)
def test_what_has_no_common_answer_cannot_be_asked(others: list[Any]) -> None:
    played = asking(*CALL_A, *CALL_B, APPROVE | {"id": "i9"}, *others)

    assert (played.client.error, asked(played)) == (UNREADABLE_QUESTION, [])
    played.client.close()


def test_an_id_that_looks_like_that_of_a_decision_is_another() -> None:
    own = APPROVE | {"id": "decision:0/1:i1"}
    played = asking(*CALL_A, *CALL_B, own, outcome(value(request(args=B))))

    assert [each["questionId"] for each in asked(played)] == [
        "own:decision:0/1:i1",
        "decision:0/1:i1",
    ]
