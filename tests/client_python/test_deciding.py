"""Native approvals, step by step, without a gateway: what is sent when, and what if it breaks."""

import json

import pytest

from client_python.approving import CALL, MADE, START, Json, approves, asked_for, asks, body, card
from client_python.playing import STREAM, play
from turnwire_client.errors import ConnectionLostError, RefusedError
from turnwire_client.events import ToolApprovalRequest
from turnwire_client.message import UIMessage
from turnwire_client.requests import Request, Verdicts
from turnwire_client.steps import Broken, Outcome, Reply

CUT = Broken(is_sent=True)
CLOSED = Reply(409, {}, b'{"error":"No","code":"question_closed"}')
ASKED = body(START, CALL, asks("one"))
WHOLE = body(START, MADE)
OTHER = body(START | {"messageId": "a2"}, MADE)


def test_the_decision_is_sent_when_the_stream_has_ended() -> None:
    asked, sending = play(STREAM, ASKED, STREAM, WHOLE, decides=approves)

    first = ["POST chat", "ToolInputAvailable", "ToolApprovalRequest"]
    assert asked == [*first, "POST chat", "ToolOutputAvailable", "Finish"]
    (call,) = sending.turn.message.parts
    assert (call["state"], call["output"]) == ("output-available", 3)


def test_without_a_decision_the_events_end_and_the_turn_waits() -> None:
    asked, sending = play(STREAM, ASKED)

    assert asked[-2:] == ["ToolApprovalRequest", "Finish"]
    assert sending.turn.is_asking


def test_a_decision_whose_answer_breaks_is_sent_again_if_the_turn_still_waits() -> None:
    resumed = body(START, CALL, asks("another"))
    sent: list[Request] = []
    outcomes = (STREAM, ASKED, CUT, STREAM, resumed, STREAM, WHOLE)
    asked, _ = play(*outcomes, decides=approves, sent=sent)
    posted = [json.loads(each.content)["messages"] for each in sent if each.content is not None]

    assert [[message["role"] for message in each] for each in posted[1:]] == [
        ["user", "assistant"],
        ["user", "assistant"],
    ]
    # Each stream signs ids of its own.
    ids = [each[-1]["parts"][-1]["approval"]["id"] for each in posted[1:]]
    assert ids == ["one", "another"]
    again = ["wait 0.0", "GET stream", "POST chat", "ToolOutputAvailable", "Finish"]
    assert asked[3:] == ["POST chat", *again]


def test_and_not_if_it_goes_on() -> None:
    resumed = body(START, CALL, MADE)
    asked, _ = play(STREAM, ASKED, CUT, STREAM, resumed, decides=approves)

    assert asked[4:] == ["wait 0.0", "GET stream", "ToolOutputAvailable", "Finish"]


def test_what_was_decided_elsewhere_is_read_from_the_stream() -> None:
    resumed = body(START, CALL, MADE)
    asked, _ = play(STREAM, ASKED, CLOSED, STREAM, resumed, decides=approves)

    assert asked[3:6] == ["POST chat", "wait 0.0", "GET stream"]
    assert asked[6:] == ["ToolOutputAvailable", "Finish"]


@pytest.mark.parametrize("value", [{}, {"all": True}])
def test_a_refused_decision_is_not_sent_again_but_asked_for_again(value: Json) -> None:
    resumed = body(START, CALL | {"input": value}, asks("two"))
    begun = ["POST chat", "ToolInputAvailable", "ToolApprovalRequest", "POST chat"]
    again = ["wait 0.0", "GET stream", "ToolApprovalRequest"]
    seen: list[ToolApprovalRequest] = []

    def once(approval: ToolApprovalRequest, verdicts: Verdicts) -> None:
        seen.append(approval)
        if len(seen) == 1:
            approves(approval, verdicts)

    asked, _ = play(STREAM, ASKED, CLOSED, STREAM, resumed, STREAM, WHOLE, decides=approves)
    left, sending = play(STREAM, ASKED, CLOSED, STREAM, resumed, decides=once)

    assert asked == [*begun, *again, "POST chat", "ToolOutputAvailable", "Finish"]
    assert left == [*begun, *again, "Finish"]
    assert sending.turn.is_asking
    assert [(each.approval_id, each.input) for each in seen] == [("one", {}), ("two", value)]


def test_another_input_behind_a_break_is_asked_for_again() -> None:
    resumed = body(START, CALL | {"input": {"all": True}}, asks("two"))
    first = asked_for("c")
    asked, _ = play(
        *(STREAM, ASKED, CUT, STREAM, resumed),
        decides=lambda event, verdicts: approves(event, verdicts) if event == first else None,
    )

    assert asked[3:] == ["POST chat", "wait 0.0", "GET stream", "ToolApprovalRequest", "Finish"]


def test_what_is_asked_behind_the_outcome_is_another_question() -> None:
    resumed = body(START, CALL, MADE, CALL, asks("two"))
    first = asked_for("c")
    asked, _ = play(
        *(STREAM, ASKED, CUT, STREAM, resumed),
        decides=lambda event, verdicts: approves(event, verdicts) if event == first else None,
    )

    assert asked[5:] == ["GET stream", "ToolOutputAvailable", "ToolApprovalRequest", "Finish"]


@pytest.mark.parametrize(
    ("outcomes", "is_kept"),
    [
        ((CUT, STREAM, body(START, CALL, MADE)), False),
        ((CUT, STREAM, body(START, CALL)), False),
        ((CUT, STREAM, body(START, CALL, {"type": "error", "errorText": "No"})), True),
        ((CUT, STREAM, body(START, {"type": "abort"})), False),
        ((CLOSED, STREAM, body(START, CALL, {"type": "error", "errorText": "No"})), False),
    ],
)
def test_a_decision_is_kept_only_while_the_turn_may_ask_for_it(
    outcomes: tuple[Outcome, ...],
    is_kept: bool,  # noqa: FBT001 (a column of the table)
) -> None:
    verdicts = Verdicts()

    play(STREAM, ASKED, *outcomes, decides=approves, verdicts=verdicts)

    decided = verdicts.message(UIMessage("a1", "assistant", [card()]))
    assert (decided is not None) == is_kept


def test_what_is_asked_behind_an_answer_that_broke_is_another_question() -> None:
    resumed = body(START, CALL, asks("two"))
    asked, _ = play(*(STREAM, ASKED, STREAM, CUT, STREAM, resumed, STREAM, WHOLE), decides=approves)

    again = ["ToolApprovalRequest", "POST chat", "ToolOutputAvailable", "Finish"]
    assert asked[3:] == ["POST chat", "wait 0.0", "GET stream", *again]


def test_an_answer_of_another_turn_is_left() -> None:
    resumed = body(START, CALL, MADE)
    asked, sending = play(STREAM, ASKED, STREAM, OTHER, STREAM, resumed, decides=approves)

    assert asked[3:] == ["POST chat", "wait 0.0", "GET stream", "ToolOutputAvailable", "Finish"]
    assert sending.turn.message_id == "a1"


def test_a_line_that_breaks_behind_a_refusal_is_a_broken_line() -> None:
    with pytest.raises(ConnectionLostError):
        play(STREAM, ASKED, CLOSED, CUT, CUT, CUT, decides=approves)
    breaks: tuple[Outcome, ...] = (STREAM, CUT) * 3
    with pytest.raises(ConnectionLostError):
        play(STREAM, ASKED, CLOSED, *breaks, decides=approves)


def test_a_gateway_that_asks_and_refuses_for_ever_is_left() -> None:
    for_ever: tuple[Outcome, ...] = (CLOSED, STREAM, ASKED) * 3
    with pytest.raises(RefusedError) as refused:
        play(STREAM, ASKED, *for_ever, CLOSED, decides=approves)

    assert refused.value.code == "question_closed"


def test_any_other_refusal_is_raised() -> None:
    with pytest.raises(RefusedError) as refused:
        play(STREAM, ASKED, Reply(429, {}, b'{"code":"too_many_turns"}'), decides=approves)

    assert refused.value.status == 429


def test_who_is_asked_again_decides_again() -> None:
    asked, _ = play(
        *(STREAM, ASKED, STREAM, body(START, asks("two")), STREAM, WHOLE), decides=approves
    )

    assert asked.count("ToolApprovalRequest") == 2
    assert asked.count("POST chat") == 3


def test_a_decision_is_sent_once() -> None:
    first = asked_for("c")
    asked, sending = play(
        *(STREAM, ASKED, STREAM, body(START, asks("two"))),
        decides=lambda event, verdicts: approves(event, verdicts) if event == first else None,
    )

    assert asked[-2:] == ["ToolApprovalRequest", "Finish"]
    assert sending.turn.is_asking


def test_a_call_that_was_decided_waits_no_more() -> None:
    other = CALL | {"toolCallId": "d"}
    outcomes = (STREAM, ASKED, STREAM, body(START, other, asks("two") | {"toolCallId": "d"}))
    _, sending = play(
        *outcomes,
        decides=lambda event, verdicts: (
            approves(event, verdicts) if event.tool_call_id == "c" else None
        ),
    )

    states = [part["state"] for part in sending.turn.message.parts]
    assert states == ["approval-responded", "approval-requested"]


def test_so_does_who_is_asked_again_behind_a_break() -> None:
    resumed = body(START, CALL, asks("another"))
    breaks = ASKED.partition(b'data: {"type": "finish"}')[0]
    asked, _ = play(
        *(STREAM, breaks, CUT, STREAM, resumed),
        *(STREAM, body(START, asks("two")), STREAM, WHOLE),
        decides=approves,
    )

    assert asked[-2:] == ["ToolOutputAvailable", "Finish"]
    assert asked.count("ToolApprovalRequest") == 2


def test_an_attempt_that_was_taken_back_is_asked_anew() -> None:
    text = {"type": "text-delta", "id": "b", "delta": "Hello"}
    other = {**text, "delta": "Good morning"}
    resumed = body(START, CALL, asks("another"), other)
    begun = body(START, text).partition(b'data: {"type": "finish"}')[0]
    asked, _ = play(STREAM, begun, CUT, STREAM, resumed, STREAM, WHOLE, decides=approves)

    again = ["ToolInputAvailable", "ToolApprovalRequest"]
    assert asked[asked.index("GET stream") + 1 :] == [
        *(*again, "Restart", *again, "TextDelta"),
        *("POST chat", "ToolOutputAvailable", "Finish"),
    ]
