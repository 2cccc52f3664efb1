"""Calls that a later run begins again with more input than their cards show.

What a framework adds to an input is not shown. But once the user is asked about such a call, what
is shown, what is approved and what the agent is sent are the same.
"""

import json
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
from support.ag_ui_decisions import CALL_A, CALL_B, SINGLE, A, asked, outcome, request, value
from support.ag_ui_turn import Played
from support.continued import REQUESTS
from turnwire.core.body.ui_message import DENIED
from turnwire.core.bounds import LONG_BYTES
from turnwire.core.ui_stream.output import StreamOptions

SMALL, LARGE = ("c1", '{"path":"a"}'), ("c1", '{"path":"a","force":true}')
LACKS = ("c1", "No result")
NOTED = {
    "id": "i1",
    "reason": "x",
    "toolCallId": "c1",
    "responseSchema": {
        "type": "object",
        "properties": {"approved": {}, "note": {}},
        "required": ["approved", "note"],
    },
}


@pytest.mark.attack(
    "an agent that begins a call again with more input in a later run, and asks for its approval",
    "the agent gets the call with the input that was approved; the earlier one is settled by the "
    "result “No result”",
)
@pytest.mark.parametrize(
    ("asks", "yes"),
    [
        (APPROVE, YES),
        (NOTED, {"approved": True, "note": "x"}),
        (outcome(SINGLE | {"args": FORCED}), YES),
        (outcome(value(request(args=FORCED))), YES),
        (outcome(value(request(args=FORCED), request("format", args={}))), "approve"),
    ],
)
def test_the_agent_is_sent_what_was_approved(asks: Any, yes: Any) -> None:
    played = answer(asking(*CALL_A, WHY), "so")
    answer(ask(played, *MORE_A, asks), yes)

    assert in_request(played) == [SMALL, LACKS, LARGE]
    assert played.calls() == {"c1": (A, "No result"), "c1#2": (FORCED, None)}


def test_so_it_is_where_the_run_that_asks_does_not_begin_it_again() -> None:
    played = answer(asking(*CALL_A, WHY), "so")
    answer(ask(played, *MORE_A, WHY), "so")
    assert in_request(played) == [SMALL]
    answer(ask(played, APPROVE), YES)

    assert in_request(played) == [SMALL, LACKS, LARGE]


def test_the_call_that_was_approved_has_the_result_and_is_not_begun_once_more() -> None:
    played = answer(asking(*CALL_A, WHY), "so")
    answer(ask(played, *MORE_A, APPROVE), YES)
    ask(played, *MORE_A, f.result("gone"), WHY)

    assert played.calls() == {"c1": (A, "No result"), "c1#2": (FORCED, "gone")}
    assert in_request(answer(played, "so")) == [SMALL, LACKS, LARGE, ("c1", "gone")]


def test_a_state_that_repeats_what_the_agent_was_sent_is_no_outcome_of_it() -> None:
    played = answer(asking(*CALL_A, WHY), "so")
    answer(ask(played, *MORE_A, APPROVE), YES)
    said: list[dict[str, Any]] = [
        {"type": "ai", "tool_calls": [{"id": "c1", "args": A}]},
        {"type": "tool", "tool_call_id": "c1", "content": "No result", "status": "success"},
        {"type": "ai", "tool_calls": [{"id": "c1", "args": FORCED}]},
    ]
    ask(played, f.event("STATE_SNAPSHOT", snapshot={"messages": said}), WHY)
    assert played.calls()["c1#2"] == (FORCED, None)
    said[1] |= {"content": DENIED, "status": "error"}
    answer(played, "so")
    ask(played, f.event("STATE_SNAPSHOT", snapshot={"messages": said}), WHY)

    assert played.calls()["c1#2"] == (FORCED, None)


def test_where_less_is_approved_the_agent_is_sent_less() -> None:
    played = answer(asking(*CALL_A, WHY), "so")
    answer(ask(played, *MORE_A, outcome(value(request()))), YES)

    assert in_request(played) == [SMALL]


def test_a_further_call_with_its_id_leaves_one_call_that_lacks_a_result() -> None:
    """Both would be run by an agent that finds the calls by their ids."""
    played = answer(asking(*CALL_A, WHY), "so")
    other = f.whole_call("c1", "delete", '{"path":"b"}')
    answer(ask(played, *other, APPROVE), YES)

    assert in_request(played) == [SMALL, LACKS, ("c1", '{"path":"b"}')]


@pytest.mark.attack(
    "an agent that begins a call again with more input in a later run, and asks for its approval",
    "the question shows the whole input",
)
@pytest.mark.parametrize("beside", [[], CALL_B])
def test_an_approval_of_a_call_that_has_more_input_now_shows_it(beside: list[bytes]) -> None:
    played = answer(asking(*CALL_A, *beside, WHY), "so")
    ask(played, *MORE_A, APPROVE)
    question = asked(played)[-1]

    assert "callId" not in question
    assert (question["toolName"], question["args"]) == ("delete", FORCED)
    answer(played, NO)
    answer(ask(played, WHY), "so")
    assert in_request(played)[-1] == ("c1", DENIED)


def test_nor_is_there_an_approval_at_another_card_then() -> None:
    """The turn log, which a later request would go on with, has what the cards show."""
    options = StreamOptions(approvals=REQUESTS)
    played = Played(native=True, options_of_stream=options)
    answer(ask(played, *CALL_A, *CALL_B, WHY), "so")
    ask(played, *MORE_A, APPROVE | {"toolCallId": "c2"})
    assert (played.client.approvals, asked(played)[-1]["callId"]) == ({}, "c2")
    answer(played, YES)
    ask(played, f.result("gone", "c2", "t2"), APPROVE)

    assert (played.client.approvals, asked(played)[-1]["args"]) == ({}, FORCED)


def test_more_input_than_can_be_shown_is_that_of_another_call() -> None:
    played = answer(asking(*CALL_A, WHY), "so")
    long = json.dumps({**A, "text": "x" * LONG_BYTES})
    ask(played, *f.whole_call("c1", "delete", long), f.result("gone"), WHY)

    assert list(played.calls()) == ["c1", "c1#2"]


def test_a_decision_about_it_shows_it_too() -> None:
    played = answer(asking(*CALL_A, WHY), "so")
    ask(played, *MORE_A, outcome(value(request(description=""))))
    question = asked(played)[-1]

    assert ("callId" in question, question["text"]) == (False, 'delete {"path": "a"}')


def test_a_call_that_was_begun_without_input_is_not_one_that_has_some() -> None:
    played = answer(asking(*f.whole_call("c1", "delete", "{}"), WHY), "so")
    ask(played, *CALL_A, APPROVE)

    assert (asked(played)[-1]["toolName"], asked(played)[-1]["args"]) == ("delete", A)
    assert played.calls()["c1#2"] == (A, None)


@pytest.mark.parametrize("asks", [WHY, WHY | {"toolCallId": "c1"}])
def test_its_input_is_not_shown_where_nobody_is_asked_whether_it_may_run(asks: Any) -> None:
    played = answer(asking(*CALL_A, WHY), "so")
    ask(played, *MORE_A, asks)

    assert b"force" not in played.written
    assert json.dumps(asked(played)).count("path") == 0
    assert in_request(answer(played, "so")) == [SMALL]
