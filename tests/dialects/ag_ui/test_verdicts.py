"""Calls that a user denied: no agent finds one without a result, and none passes for another call.

The run that gets a denial may tell no outcome of the call, and ask again. Its next request has the
whole conversation, and an agent might run a call in it that has no result.
"""

from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_asking import (
    APPROVE,
    FORCED,
    MORE_A,
    NO,
    WHY,
    YES,
    answer,
    ask,
    asking,
    in_request,
)
from support.ag_ui_decisions import CALL_A, CALL_B, SINGLE, A, B, asked, outcome, request, value
from turnwire.core.body.ui_message import DENIED
from turnwire.dialects.ag_ui.content.transcript import KEPT_MAX
from turnwire.dialects.ag_ui.turn import TOO_LONG

AGAIN_B = f.whole_call("c1", "delete", '{"path":"b"}')


@pytest.mark.attack(
    "an agent that gives a new call the id of a denied one, and asks for its approval",
    "a yes approves the new call alone; the other one stays denied",
)
def test_a_yes_to_a_new_call_leaves_the_denied_call_of_that_id_denied() -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, *AGAIN_B, APPROVE | {"id": "i2"}), YES)

    assert played.requests[-1]["resume"][0]["payload"] == {"approved": True}
    assert in_request(played) == [("c1", '{"path":"a"}'), ("c1", DENIED), ("c1", '{"path":"b"}')]


def test_another_call_with_its_id_is_not_denied_with_it() -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    other = f.whole_call("c1", "weather", '{"city":"Rome"}')
    answer(ask(played, *other, WHY), "so")

    assert in_request(played) == [("c1", '{"path":"a"}'), ("c1", DENIED), ("c1", '{"city":"Rome"}')]


MORE = {"properties": {"approved": {}, "note": {}}, "required": ["approved", "note"]}
NOTED = {**APPROVE, "responseSchema": {"type": "object", **MORE}}


@pytest.mark.parametrize(
    ("told", "asks", "no"),
    [
        ([*CALL_A, f.result("gone"), f.text("So."), *AGAIN_B], APPROVE, False),
        (AGAIN_B, NOTED, {"approved": False, "note": "x"}),
        (AGAIN_B, NOTED, {"approved": "yes", "note": "x"}),
        (AGAIN_B, NOTED, {"note": "x"}),
        (AGAIN_B, {"id": "i1", "reason": "x", "toolCallId": "c1"}, {"approved": "no"}),
        (AGAIN_B, {"id": "i1", "reason": "x", "toolCallId": "c1"}, False),
        (AGAIN_B, {"id": "i1", "reason": "x", "toolCallId": "c1"}, {"approved": False}),
        (
            [*CALL_A, f.result("gone"), f.text("So."), *AGAIN_B],
            outcome(value(request(args=B))),
            "deny",
        ),
        (AGAIN_B, outcome(value(request(args={"path": "c"}))), False),
        (AGAIN_B, outcome(value(request(args=B), request("format", args={}))), False),
        (
            AGAIN_B,
            outcome(value(request(args=B), request("format", args={}))),
            {"decisions": [{"type": "reject"}, {"type": "approve"}]},
        ),
        (
            [*CALL_A, f.result("gone"), f.text("So."), *AGAIN_B],
            outcome({"type": "tool_approval", "tool_call_id": "c1", **request(args=B)}),
            False,
        ),
    ],
)
def test_a_no_to_any_question_about_a_call_is_a_denial_of_it(
    told: list[bytes], asks: Any, no: Any
) -> None:
    """Also where the question names no card: the id was used before, or it is about several."""
    played = answer(asking(*told, asks), no)
    assert in_request(played)[-1] == ("c1", '{"path":"b"}')
    answer(ask(played, WHY), "so")

    assert in_request(played)[-2:] == [("c1", '{"path":"b"}'), ("c1", DENIED)]


@pytest.mark.parametrize(
    ("asks", "yes"),
    [
        (NOTED, {"approved": True, "note": "x"}),
        ({"id": "i1", "reason": "x", "toolCallId": "c1"}, "Rome"),
        ({"id": "i1", "reason": "x", "toolCallId": "c1"}, True),
        (
            outcome(value(request(), request("format", args={}))),
            {"decisions": [{"type": "approve"}, {"type": "reject"}]},
        ),
        (outcome(value(request(), request("format", args={}))), True),
        (outcome(value(request("format", args={}))), False),
    ],
)
def test_no_other_answer_is(asks: Any, yes: Any) -> None:
    played = answer(asking(*CALL_A, asks), yes)
    answer(ask(played, WHY), "so")

    assert in_request(played) == [("c1", '{"path":"a"}')]


@pytest.mark.parametrize("answers", [(False, True), (True, False)])
@pytest.mark.parametrize("was_denied", [False, True])
def test_of_two_answers_about_one_call_a_no_counts(
    answers: tuple[bool, bool], *, was_denied: bool
) -> None:
    played = asking(*CALL_A, APPROVE)
    if was_denied:
        answer(played, NO)
        ask(played, APPROVE, APPROVE | {"id": "i2"})
    else:
        played = asking(*CALL_A, APPROVE, APPROVE | {"id": "i2"})
    answer(played, *answers)
    assert in_request(played) == [("c1", '{"path":"a"}')] + [("c1", DENIED)] * was_denied
    answer(ask(played, WHY), "so")

    assert in_request(played) == [("c1", '{"path":"a"}'), ("c1", DENIED)]


@pytest.mark.parametrize(
    ("asks", "yes"), [(APPROVE, YES), (NOTED, {"approved": True, "note": "x"})]
)
def test_a_yes_to_the_very_call_that_was_denied_lets_it_run(asks: Any, yes: Any) -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, f.text("Really?"), asks), yes)

    assert in_request(played) == [("c1", '{"path":"a"}')]
    assert len(played.requests[-1]["messages"]) == 2


@pytest.mark.parametrize("given", [True, "approve", {"approved": True}, False])
def test_an_answer_to_another_kind_of_question_about_it_does_not(given: Any) -> None:
    """As to whether the denial shall be kept in a log."""
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, {"id": "i2", "reason": "input_required", "toolCallId": "c1"}), given)

    assert in_request(played) == [("c1", '{"path":"a"}'), ("c1", DENIED)]


def test_from_then_on_it_is_a_call_like_any_other() -> None:
    """A framework adds to the input of the call that it runs."""
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, APPROVE), YES)
    ask(played, *MORE_A, f.result("gone"), WHY)

    assert played.calls() == {"c1": (A, "gone")}


def test_a_second_no_to_it_is_sent_as_the_first_one_was() -> None:
    """Without a result: an agent that waits for the answer has no other place for it."""
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, APPROVE), NO)
    assert in_request(played) == [("c1", '{"path":"a"}')]
    answer(ask(played, WHY), "so")

    assert in_request(played) == [("c1", '{"path":"a"}'), ("c1", DENIED)]


def test_a_yes_to_more_than_was_denied_is_a_yes_to_another_call() -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, *MORE_A, APPROVE | {"id": "i2"}), YES)

    assert asked(played)[-1]["args"] == FORCED
    last = ("c1", '{"path":"a","force":true}')
    assert in_request(played) == [("c1", '{"path":"a"}'), ("c1", DENIED), last]


def test_a_yes_to_a_call_that_is_the_same_is_about_the_one_that_was_not_denied() -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    same = f.whole_call("c2", "delete", '{"path":"a"}')
    answer(ask(played, *same, outcome(value(request()), "i2")), YES)

    assert asked(played)[-1]["callId"] == "c2"
    assert in_request(played)[-1] == ("c1", DENIED)


def test_a_yes_to_what_may_be_another_call_is_no_yes_to_the_one_that_was_denied() -> None:
    """A middleware shows another input than that of its model, or one question is about several."""
    played = answer(asking(*CALL_A, *CALL_B, APPROVE), NO)
    single = {"type": "tool_approval", "tool_call_id": "c1", **request(args={"path": "c"})}
    answer(ask(played, outcome(single, "i2")), YES)
    assert ("c1", DENIED) in in_request(played)
    answer(ask(played, outcome(value(request(args={"path": "c"})), "i3")), YES)

    assert in_request(played)[-1] == ("c1", DENIED)


@pytest.mark.parametrize("first", ["c1", "c2"])
def test_a_question_that_may_be_about_either_of_two_calls_is_about_both_for_a_no_alone(
    first: str,
) -> None:
    """They are the same, and one of them is asked about beside a call that the turn lacks."""
    same = [*CALL_A, *f.whole_call("c2", "delete", '{"path":"a"}')]
    about = outcome(value(request(), request("format", args={})))
    played = answer(asking(*same, about), NO)
    answer(ask(played, APPROVE | {"id": "i2", "toolCallId": first}), YES)
    other = "c2" if first == "c1" else "c1"
    assert [each for each in in_request(played) if each[1] == DENIED] == [(other, DENIED)]
    answer(ask(played, about), YES)

    assert [each for each in in_request(played) if each[1] == DENIED] == [(other, DENIED)]


@pytest.mark.parametrize(
    ("asks", "denied"),
    [(value(request()), ["c1", "c2"]), ({**SINGLE, "tool_call_id": "c2"}, ["c2"])],
)
def test_a_no_to_a_decision_that_names_no_call_is_one_to_each_that_is_the_same(
    asks: Any, denied: list[str]
) -> None:
    same = [*CALL_A, *f.whole_call("c2", "delete", '{"path":"a"}')]
    played = answer(asking(*same, outcome(asks)), NO)
    answer(ask(played, WHY), "so")
    assert [each[0] for each in in_request(played) if each[1] == DENIED] == denied
    answer(ask(played, APPROVE | {"toolCallId": "c2"}), YES)

    assert [each[0] for each in in_request(played) if each[1] == DENIED] == denied[:-1]


def test_a_no_to_one_of_two_decisions_about_calls_that_are_the_same_is_one_to_both() -> None:
    """Which of them it is about, the agent decides: its order need not be that of the calls."""
    same = [*CALL_A, *f.whole_call("c2", "delete", '{"path":"a"}')]
    played = asking(*same, outcome(value(request())), outcome(value(request()), "i2"))
    answer(ask(answer(played, NO, YES), WHY), "so")

    assert in_request(played)[-2:] == [("c1", DENIED), ("c2", DENIED)]


@pytest.mark.parametrize("about", ["c1", ""])
def test_a_yes_to_one_question_about_several_calls_lets_the_very_calls_run(about: str) -> None:
    """They have used ids, so that no card can ask."""
    before = [*f.whole_call("c1"), f.result("sunny"), f.text("So.")]
    asks = {"type": "tool_approval", "tool_call_id": about, **request()}
    played = answer(asking(*before, *CALL_A, outcome(asks)), NO)
    answer(ask(played, WHY), "so")
    assert in_request(played)[-1] == ("c1", DENIED)
    answer(ask(played, outcome(asks, "i2")), YES)

    assert in_request(played)[-1] == ("c1", '{"path":"a"}')


def test_a_call_that_has_a_result_is_not_denied_by_a_late_no() -> None:
    played = answer(asking(*CALL_A, f.result("gone"), APPROVE), NO)
    answer(ask(played, WHY), "so")

    assert in_request(played)[-1] == ("c1", "gone")


STATE = {"type": "tool", "tool_call_id": "c1", "content": DENIED}


@pytest.mark.parametrize(
    "echo",
    [
        f.snapshot(f.user(), f.assistant("", c1='{"path":"a"}'), f.tool(DENIED)),
        f.snapshot(f.user(), f.assistant("", c1='{"path":"a"}'), f.tool(DENIED, error="error")),
        f.event("STATE_SNAPSHOT", snapshot={"messages": [STATE | {"status": "success"}]}),
        f.result(DENIED),
    ],
)
def test_a_denial_that_the_agent_repeats_is_no_output(echo: bytes) -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, WHY), "so")
    run = played.requests[-1]["runId"]
    played.tell(f.started(run), echo, f.text("Kept."), f.finished(run))

    assert played.of_call()[-1]["type"] == "tool-output-error"
    assert played.of_call()[-1]["errorText"] == DENIED
    played.client.close()


def test_nor_is_it_one_where_its_result_came_before() -> None:
    snapshot = f.snapshot(f.user(), f.assistant("", c1='{"path":"a"}'), f.tool(DENIED))
    played = answer(asking(*CALL_A, APPROVE), NO)
    run = played.requests[-1]["runId"]
    played.tell(f.started(run), f.result(DENIED), snapshot, f.finished(run))

    assert played.of_call()[-1]["errorText"] == DENIED


def test_a_turn_in_which_a_denial_has_no_room_is_too_long() -> None:
    """It would go on with no messages at all."""
    room = KEPT_MAX - 1_000
    played = answer(asking(*CALL_A, f.text("x" * room), APPROVE), NO)
    assert len(played.requests[-1]["messages"]) == 2
    ask(played, WHY)
    played.reply("why", "so")

    assert (len(played.requests), played.client.error) == (2, TOO_LONG)
    played.client.close()
