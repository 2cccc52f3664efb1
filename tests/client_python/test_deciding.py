"""Native approvals, step by step, without a gateway: what is sent when, and what if it breaks."""

import json
from typing import Any

import pytest

from client_python.playing import STREAM, play
from turnwire_client.errors import RefusedError
from turnwire_client.events import ToolApprovalRequest
from turnwire_client.message import UIMessage
from turnwire_client.requests import Request, Verdicts
from turnwire_client.steps import Broken, Outcome, Reply

Json = dict[str, Any]
START: Json = {"type": "start", "messageId": "a1"}
CALL: Json = {"type": "tool-input-available", "toolCallId": "c", "toolName": "add", "input": {}}
MADE: Json = {"type": "tool-output-available", "toolCallId": "c", "output": 3}
CUT = Broken(is_sent=True)
CLOSED = Reply(409, {}, b'{"error":"No","code":"question_closed"}')


def asks(signed: str) -> Json:
    return {"type": "tool-approval-request", "toolCallId": "c", "approvalId": signed}


def body(*chunks: Json) -> bytes:
    records = [*(json.dumps(each) for each in (*chunks, {"type": "finish"})), "[DONE]"]
    return "".join(f"data: {record}\n\n" for record in records).encode()


ASKED = body(START, CALL, asks("one"))
WHOLE = body(START, MADE)


def approves(approval: ToolApprovalRequest, verdicts: Verdicts) -> None:
    verdicts.decide(approval, approved=True, reason=None)


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
    first = ToolApprovalRequest("one", "one", "c", "add", {}, "", is_native=True)
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


def test_the_message_has_the_decision_at_its_card() -> None:
    card = {"type": "tool-add", "toolCallId": "c", "state": "approval-requested"}
    message = UIMessage("a1", "assistant", [{**card, "approval": {"id": "one"}}])
    verdicts = Verdicts()
    approval = ToolApprovalRequest("one", "one", "c", "add", {}, "", is_native=True)
    assert verdicts.message(message) is None
    verdicts.decide(approval, approved=True, reason=None)
    verdicts.decide(approval, approved=False, reason="no")

    decided = verdicts.message(message)
    assert decided is not None
    assert decided.parts == [
        card
        | {
            "state": "approval-responded",
            "approval": {"id": "one", "approved": False, "reason": "no"},
        }
    ]
    verdicts.forget(decided)
    assert verdicts.message(message) is None


def test_decisions_are_bounded() -> None:
    verdicts = Verdicts()
    for number in range(300):
        call = ToolApprovalRequest("a", "a", f"c{number}", "add", {}, "", is_native=True)
        verdicts.decide(call, approved=True, reason=None)
    parts = [
        {
            "type": "tool-add",
            "toolCallId": each,
            "state": "approval-requested",
            "approval": {"id": "a"},
        }
        for each in ("c0", "c299")
    ]

    assert verdicts.message(UIMessage("a1", "assistant", parts[:1])) is None
    assert verdicts.message(UIMessage("a1", "assistant", parts[1:])) is not None
    nameless = ToolApprovalRequest("a", "a", None, None, {}, "", is_native=True)
    with pytest.raises(ValueError, match="names no call"):
        verdicts.decide(nameless, approved=True, reason=None)
