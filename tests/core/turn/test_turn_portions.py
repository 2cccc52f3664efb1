"""The events of a long frame are written in portions, with the same bytes as in one write."""

import json
from typing import Any

import pytest

from support.watching import Watching
from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.requests import ResumeRequest
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Frames, Opened
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.observer import TurnObserver
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.portions import EVENTS
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

CALLS = 2 * EVENTS


def parts() -> list[dict[str, Any]]:
    call = {"type": "tool-call", "toolName": "t", "status": "completed", "args": {}, "result": 1}
    calls = [{**call, "callId": f"c{number}"} for number in range(CALLS)]
    return [{"type": "text", "text": "before"}, *calls, {"type": "text", "text": "after"}]


def init(*parts: dict[str, Any]) -> bytes:
    turn = {"id": "t", "role": "assistant", "parts": parts}
    data = {"runnerBusy": True, "runningTurnId": "t"}
    return json.dumps({"type": "init", "data": data, "session": {"messages": [turn]}}).encode()


def resuming(*observers: TurnObserver) -> Turn:
    look = ResumeRequest(user_id="u1", init_s=5.0)
    limits = Limits(on_disconnect=DisconnectPolicy.LET_GO)
    turn = Turn(DIALECTS["v2"].resume(look), limits, UIMessageStream(), observers=observers)
    turn.handle(Opened(), 0)
    return turn


@pytest.mark.parametrize("observers", [[], [Watching()]])
def test_portions_give_the_same_bytes_as_one_write(observers: list[TurnObserver]) -> None:
    at_once, in_portions = resuming(), resuming(*observers)

    whole = at_once.frames([init(*parts())], 1).to_client
    writes = [act.to_client for act in in_portions.long_frame(init(*parts()), 1)]

    assert b"".join(writes) == whole
    assert len(writes) > 2
    assert (in_portions.frames_received, in_portions.deadline) == (1, at_once.deadline)


def test_a_client_that_leaves_in_between_ends_it() -> None:
    turn = resuming()
    portions = turn.long_frame(init(*parts()), 1)
    next(portions)

    turn.handle(ClientLeft(), 2)

    assert turn.outcome is Outcome.CLIENT_GONE
    assert all(act == Output() for act in portions)


def test_a_turn_that_is_over_ignores_frames() -> None:
    turn = resuming()
    turn.handle(AgentLeft(), 1)

    assert list(turn.long_frame(init(*parts()), 2)) == [Output()]


@pytest.mark.parametrize(("delta", "has_delta"), [("x" * 70_000, True), ("", False)])
def test_one_long_delta_is_one_portion(delta: str, has_delta: bool) -> None:  # noqa: FBT001 (a case)
    turn = resuming()
    turn.frames([init()], 1)
    frame = {"type": "message.part.text-delta", "turnId": "t", "delta": delta, "x": "x" * 70_000}

    (act,) = turn.long_frame(json.dumps(frame).encode(), 2)

    assert (delta.encode() in act.to_client and b"text-delta" in act.to_client) is has_delta


def test_observers_get_one_input_for_one_frame() -> None:
    watching = Watching()
    turn = resuming(watching)
    watching.inputs.clear()
    watching.outputs.clear()

    outputs = list(turn.long_frame(init(*parts()), 1))

    assert watching.inputs == [(Frames((init(*parts()),)), 1)]
    assert watching.outputs == [(output, 1) for output in outputs]


def approval(number: int, **more: Any) -> list[dict[str, Any]]:
    """A call, and the question whether it may run."""
    call_fields = {"callId": f"a{number}", "toolName": "t"}
    question_fields = {"questionId": f"q{number}", "kind": "approval", **call_fields, **more}
    call = {"type": "tool-call", "status": "pending", "args": {}, **call_fields}
    return [call, {"type": "question", **question_fields}]


def native() -> Turn:
    look = ResumeRequest(user_id="u1", init_s=5.0)
    signer = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")
    requests = ApprovalIssuer(signer=signer, epoch=0, valid_s=60)
    limits = Limits(on_disconnect=DisconnectPolicy.LET_GO)
    turn = Turn(
        DIALECTS["v2"].resume(look), limits, UIMessageStream(StreamOptions(approvals=requests))
    )
    turn.handle(Opened(), 0)
    return turn


@pytest.mark.parametrize(
    ("closed", "outcome"), [({}, Outcome.ASKED), ({"answer": {"approved": True}}, None)]
)
def test_an_approval_is_waited_for_after_the_last_portion(
    closed: dict[str, Any], outcome: Outcome | None
) -> None:
    """An approval that is answered in a later portion does not end the stream."""
    all_parts = [*approval(1, **closed), *parts(), *approval(2, **closed)]
    at_once, in_portions = native(), native()

    whole = at_once.frames([init(*all_parts)], 1).to_client
    outcomes = []
    writes = []
    for act in in_portions.long_frame(init(*all_parts), 1):
        writes.append(act.to_client)
        outcomes.append(in_portions.outcome)

    assert b"".join(writes) == whole
    assert (at_once.outcome, in_portions.outcome) == (outcome, outcome)
    assert whole.count(b'"type":"tool-approval-request"') == (2 if outcome else 0)
    assert outcomes[:-1] == [None] * (len(writes) - 1)
    assert len(writes) > 2
