"""Calls that are the same, and a question that does not say which of them it is about.

A no to it is one to each of them. A yes does not take an earlier no back. It makes no difference
whether the answer comes to the process that asked, or begins a request of its own.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from support.ag_ui_asking import APPROVE, MORE_A, NO, WHY, YES, answer, ask, asking, in_request
from support.ag_ui_decisions import CALL_A, SINGLE, A, asked, outcome, request, value
from support.ag_ui_turn import Played
from turnwire.core.approvals import subject
from turnwire.core.body.conversation import Call, Conversation, Unresolved
from turnwire.core.body.ui_message import DENIED, NO_RESULT
from turnwire.core.events import Approval, Event, Phase, Question, ToolUpdate, TurnStarted
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.dialects.ag_ui import AgUi

SAME = [*CALL_A, *f.whole_call("c2", "delete", '{"path": "a"}')]
UNNAMED = {"type": "tool_approval", **request()}
INPUT = Raw(json.dumps(A).encode())


def denied(played: Played) -> list[str]:
    return [call_id for call_id, content in in_request(played) if content == DENIED]


@pytest.mark.attack(
    "two equal calls, one of them denied; then the agent asks again, and does not say about which",
    "a yes to that question does not take the denial back",
)
@pytest.mark.parametrize("asks", [value(request()), UNNAMED])
@pytest.mark.parametrize("beside", [[], [WHY]])
def test_a_yes_that_may_mean_the_other_call_takes_no_denial_back(
    asks: Any, beside: list[dict[str, str]]
) -> None:
    """The twin has the error “No result”, or is open if there were no approvals at cards."""
    played = answer(asking(*SAME, APPROVE, *beside), NO, *["so" for _ in beside])
    ask(played, outcome(asks, "i2"))
    assert asked(played)[-1].get("callId") == ("c2" if beside else None)
    answer(played, YES)
    assert denied(played) == ["c1"]
    answer(ask(played, WHY), "so")

    assert denied(played) == ["c1"]


def test_so_it_is_where_a_question_about_the_twin_is_no_decision() -> None:
    played = answer(asking(*SAME, APPROVE, WHY), NO, "so")
    answer(ask(played, outcome(UNNAMED, "i2"), WHY | {"toolCallId": "c2"}), YES, "so")

    assert denied(played) == ["c1"]


def test_so_it_is_where_both_were_denied() -> None:
    played = answer(asking(*SAME, APPROVE, APPROVE | {"id": "i2", "toolCallId": "c2"}), NO, NO)
    answer(ask(played, outcome(value(request()), "i3")), YES)

    assert denied(played) == ["c1", "c2"]


def test_and_where_a_later_run_added_to_the_input_of_the_twin() -> None:
    """Its card, and what the agent is sent, have the input that is asked about."""
    played = answer(asking(*SAME, APPROVE | {"toolCallId": "c2"}), NO)
    answer(ask(played, *MORE_A, WHY), "so")
    assert denied(played) == ["c2"]
    answer(ask(played, outcome(value(request()), "i2")), YES)

    assert denied(played) == ["c2"]


@pytest.mark.parametrize("answers", [(YES, YES), (YES, NO)])
def test_one_question_about_both_is_for_certain_about_each(answers: tuple[bool, bool]) -> None:
    played = answer(asking(*SAME, APPROVE, APPROVE | {"id": "i2", "toolCallId": "c2"}), NO, NO)
    ask(played, outcome(value(request(), request()), "i3"))
    words = {YES: {"type": "approve"}, NO: {"type": "reject"}}
    answer(played, {"decisions": [words[each] for each in answers]})

    assert denied(played) == ([] if all(answers) else ["c1", "c2"])


@pytest.mark.parametrize(
    "asks", [APPROVE, outcome(SINGLE, "i2"), outcome(SINGLE, "i2", toolCallId="c1")]
)
def test_a_yes_that_names_it_takes_the_denial_back(asks: Any) -> None:
    played = answer(asking(*SAME, APPROVE, WHY), NO, "so")
    ask(played, asks)
    assert asked(played)[-1]["callId"] == "c1"
    answer(played, YES)

    assert denied(played) == []


@pytest.mark.attack(
    "one yes and one no about two equal calls, in questions that do not say which they mean",
    "as soon as one of them ran, the agent is sent no other one that it could run",
)
@pytest.mark.parametrize(
    "asks",
    [
        [outcome(value(request(), request()))],
        [outcome(value(request())), outcome(value(request()), "i2")],
        [outcome(UNNAMED), outcome(UNNAMED, "i2")],
    ],
)
@pytest.mark.parametrize("answers", [(NO, YES), (YES, NO)])
@pytest.mark.parametrize("ran", ["c1", "c2"])
def test_one_yes_runs_one_of_two(asks: list[Any], answers: tuple[bool, bool], ran: str) -> None:
    played = answer(asking(*SAME, *asks), *answers)
    assert in_request(played) == [("c1", '{"path":"a"}'), ("c2", '{"path": "a"}')]
    answer(ask(played, f.result("gone", ran), WHY), "so")

    other = "c2" if ran == "c1" else "c1"
    results = [each for each in in_request(played) if "{" not in each[1]]
    assert sorted(results) == sorted([(ran, "gone"), (other, DENIED)])


@pytest.mark.attack(
    "a call was denied, and the agent asks twice about one that is the same, only once by its id",
    "a yes to both lets the new one run; the other one stays denied",
)
@pytest.mark.parametrize("unnamed", [value(request()), UNNAMED])
@pytest.mark.parametrize(
    "named",
    [
        APPROVE | {"id": "i3", "toolCallId": "c3"},
        outcome(SINGLE | {"tool_call_id": "c3"}, "i3"),
    ],
)
def test_a_yes_beside_one_that_names_the_other_call_takes_no_denial_back(
    unnamed: Any, named: Any
) -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    same = f.whole_call("c3", "delete", '{"path":"a"}')
    ask(played, *same, outcome(unnamed, "i2"), named)
    assert asked(played)[-2].get("callId") != "c1"
    answer(played, YES, YES)
    assert denied(played) == ["c1"]
    answer(ask(played, WHY), "so")

    assert denied(played) == ["c1"]


def test_a_twin_with_a_result_is_not_meant() -> None:
    played = answer(asking(*SAME, APPROVE), NO)
    answer(ask(played, f.result("gone", "c2", "t2"), outcome(value(request()), "i2")), YES)

    assert denied(played) == []


def in_this_process(asks: Mapping[str, Any]) -> list[str]:
    """The calls that are denied after these interrupts got these answers."""
    played = asking(*SAME, *(interrupt for interrupt, _ in asks.values() if interrupt))
    assert [each["questionId"] for each in asked(played)] == [*asks]
    answer(played, *(given for _, given in asks.values()))
    return sorted(denied(answer(ask(played, WHY), "so")))


def in_a_request_of_its_own(asks: Mapping[str, Any], *, is_logged: bool) -> list[str]:
    """The same, where the answers begin a request."""
    places = ("c1", "c2")[: len(asks)]
    cards = [Call(call_id, "delete", INPUT) for call_id in places]
    beside = [Call(call_id, "delete", INPUT) for call_id in ("c1", "c2") if call_id not in places]
    written = [
        b'{"role":"user"}',
        b'{"role":"assistant"}',
        *(b'{"role":"tool","toolCallId":"c2","content":"No result"}' for _ in beside),
    ]
    unresolved = [Unresolved(each, each.call_id, 2) for each in beside]
    log: list[Event] = [TurnStarted(f.RUN)]
    for each in (*cards, *beside):
        has_card = each in cards
        log.append(
            ToolUpdate(
                call_id=each.call_id,
                tool_name=each.name,
                phase=Phase.RUNNING if has_card else Phase.ERROR,
                args=each.input,
                error=None if has_card else NO_RESULT,
                preliminary=not has_card,
            )
        )
    replies = []
    for each, (question_id, (_, given)) in zip(cards, asks.items(), strict=True):
        approval = Approval(each.call_id, each.name, each.input)
        log.append(Question(question_id, Raw(b"{}"), approval))
        signed = subject(f.RUN, approval)
        replies.append(QuestionReply(question_id, Raw(json.dumps(given).encode()), signed))
    protocol = AgUi().resume(
        ResumeRequest(
            user_id="u1",
            session_id="s1",
            init_s=5,
            replies=replies,
            message_id=f.RUN,
            waiting=log if is_logged else None,
            conversation=Conversation(written, {}, cards, unresolved),
        )
    )
    run = json.loads(protocol.connect_request().body)["runId"]
    protocol.connection_opened(0)
    for frame in (f.started(run), f.text("Hm."), f.interrupted(WHY, run=run)):
        protocol.receive_frame(frame, 0)
    request_ = protocol.reply(QuestionReply("why", Raw(b'"so"')), "u1", 0).connect
    assert request_ is not None
    said = json.loads(request_.body)["messages"]
    return sorted(each["toolCallId"] for each in said if each.get("content") == DENIED)


@pytest.mark.parametrize(
    ("asks", "expected"),
    [
        ({"decision:0/1:i1": (outcome(value(request())), NO)}, ["c1", "c2"]),
        ({"decision:any:i1": (outcome(UNNAMED), NO)}, ["c1", "c2"]),
        ({"decision:0/1:i1": (outcome(value(request())), YES)}, []),
        ({"decision:alone:i1": (outcome(SINGLE), NO)}, ["c1"]),
        ({"i1": (APPROVE, NO)}, ["c1"]),
        (
            {
                "decision:0/1:i1": (outcome(value(request())), NO),
                "i2": (APPROVE | {"id": "i2", "toolCallId": "c2"}, YES),
            },
            ["c1"],
        ),
        (
            {
                "decision:any:i1": (outcome(UNNAMED), NO),
                "decision:alone:i2": (outcome(SINGLE | {"tool_call_id": "c2"}, "i2"), YES),
            },
            ["c1"],
        ),
        (
            {
                "decision:0/2:i1": (outcome(value(request(), request())), NO),
                "decision:1/2:i1": ({}, YES),
            },
            ["c1", "c2"],  # which call is the first one, the agent decides
        ),
        (
            {
                "decision:any:i1": (outcome(UNNAMED), YES),
                "decision:any:i2": (outcome(UNNAMED, "i2"), NO),
            },
            ["c1", "c2"],
        ),
        (
            {
                "decision:any:i1": (outcome(UNNAMED), YES),
                "decision:any:i2": (outcome(UNNAMED, "i2"), YES),
            },
            [],
        ),
    ],
)
def test_a_no_is_about_the_same_calls_wherever_it_is_answered(
    asks: Mapping[str, Any], expected: list[str]
) -> None:
    assert in_this_process(asks) == expected
    for is_logged in (False, True):
        assert in_a_request_of_its_own(asks, is_logged=is_logged) == expected
