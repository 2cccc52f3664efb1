"""What a long frame tells is told in portions, and is the same as if it were told at once."""

import json
from typing import Any

import pytest

from turnwire.core.act import Act
from turnwire.core.approval import Requests, Signer
from turnwire.core.dialect import Look
from turnwire.core.limits import Hangup, Limits
from turnwire.core.outcome import Outcome
from turnwire.core.overheard import Input, Overheard
from turnwire.core.portions import EVENTS
from turnwire.core.turn import Turn
from turnwire.dialects import DIALECTS

CALLS = 2 * EVENTS


def parts() -> list[dict[str, Any]]:
    call = {"type": "tool-call", "toolName": "t", "status": "completed", "args": {}, "result": 1}
    calls = [{**call, "callId": f"c{number}"} for number in range(CALLS)]
    return [{"type": "text", "text": "before"}, *calls, {"type": "text", "text": "after"}]


def init(*said: dict[str, Any]) -> bytes:
    turn = {"id": "t", "role": "assistant", "parts": said}
    data = {"runnerBusy": True, "runningTurnId": "t"}
    return json.dumps({"type": "init", "data": data, "session": {"messages": [turn]}}).encode()


def resuming(kind: type[Turn] = Turn) -> Turn:
    look = Look(user_id="u1", init_s=5.0)
    turn = kind(DIALECTS["v2"].resume(look), Limits(on_hangup=Hangup.LET_GO))
    turn.opened(0)
    return turn


@pytest.mark.parametrize("kind", [Turn, Overheard])
def test_portions_say_what_the_whole_says(kind: type[Turn]) -> None:
    at_once, in_portions = resuming(), resuming(kind)

    whole = at_once.frames([init(*parts())], 1).write
    told = [act.write for act in in_portions.portions(init(*parts()), 1)]

    assert b"".join(told) == whole
    assert len(told) > 2
    assert (in_portions.frames_heard, in_portions.deadline) == (1, at_once.deadline)


def test_a_client_that_leaves_in_between_ends_it() -> None:
    turn = resuming()
    portions = turn.portions(init(*parts()), 1)
    next(portions)

    turn.client_left(2)

    assert turn.outcome is Outcome.CLIENT_GONE
    assert all(act == Act() for act in portions)


def test_a_turn_that_is_over_hears_nothing() -> None:
    turn = resuming()
    turn.agent_left(1)

    assert list(turn.portions(init(*parts()), 2)) == [Act()]


@pytest.mark.parametrize(("delta", "said"), [("x" * 70_000, True), ("", False)])
def test_one_long_delta_is_one_portion(delta: str, said: bool) -> None:  # noqa: FBT001 (a case)
    turn = resuming()
    turn.frames([init()], 1)
    frame = {"type": "message.part.text-delta", "turnId": "t", "delta": delta, "x": "x" * 70_000}

    (act,) = turn.portions(json.dumps(frame).encode(), 2)

    assert (delta.encode() in act.write and b"text-delta" in act.write) is said


def test_whoever_listens_in_is_told_of_one_frame() -> None:
    heard: list[Input] = []
    acts: list[Act] = []

    class Ear:
        def heard(self, what: Input, *_: object) -> None:
            heard.append(what)

        def did(self, act: Act, _: float) -> None:
            acts.append(act)

    turn = resuming(Overheard)
    assert isinstance(turn, Overheard)
    turn.ears = [Ear()]

    told = list(turn.portions(init(*parts()), 1))

    assert heard == [Input.FRAMES]
    assert acts == told


def approval(number: int, **more: Any) -> list[dict[str, Any]]:
    """A call, and the question whether it may be."""
    its = {"callId": f"a{number}", "toolName": "t"}
    asked = {"questionId": f"q{number}", "kind": "approval", **its, **more}
    call = {"type": "tool-call", "status": "pending", "args": {}, **its}
    return [call, {"type": "question", **asked}]


def native() -> Turn:
    look = Look(user_id="u1", init_s=5.0)
    signer = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")
    requests = Requests(signer=signer, epoch=0, valid_s=60)
    limits = Limits(on_hangup=Hangup.LET_GO)
    turn = Turn(DIALECTS["v2"].resume(look), limits, requests=requests)
    turn.opened(0)
    return turn


@pytest.mark.parametrize(
    ("closed", "outcome"), [({}, Outcome.ASKED), ({"answer": {"approved": True}}, None)]
)
def test_an_approval_is_waited_for_when_all_was_told(
    closed: dict[str, Any], outcome: Outcome | None
) -> None:
    """Those before what follows them are answered, though that comes in a later portion."""
    said = [*approval(1, **closed), *parts(), *approval(2, **closed)]
    at_once, in_portions = native(), native()

    whole = at_once.frames([init(*said)], 1).write
    outcomes = []
    told = []
    for act in in_portions.portions(init(*said), 1):
        told.append(act.write)
        outcomes.append(in_portions.outcome)

    assert b"".join(told) == whole
    assert (at_once.outcome, in_portions.outcome) == (outcome, outcome)
    assert whole.count(b'"type":"tool-approval-request"') == (2 if outcome else 0)
    assert outcomes[:-1] == [None] * (len(told) - 1)
    assert len(told) > 2
