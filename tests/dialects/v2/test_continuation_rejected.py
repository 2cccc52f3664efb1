"""Answers that are not forwarded, and why."""

import json

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.continued import (
    YES,
    Json,
    approval,
    brief,
    called,
    continued,
    init,
    question,
    text,
)
from turnwire.core.approvals import subject
from turnwire.core.events import Approval
from turnwire.core.rejection import Rejection
from turnwire.core.requests import Channel, QuestionReply, ResumeRequest
from turnwire.core.terms import Terms
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([called()], id="unknown"),
        pytest.param([called(), approval(answer=True)], id="answered"),
        pytest.param([called(), approval(answer=None)], id="answered with null"),
        pytest.param([called(), approval(expired=True)], id="expired"),
        pytest.param([called(), approval(), {"type": "finish"}], id="the turn is over"),
    ],
)
def test_a_question_that_is_not_open_is_refused_and_nothing_is_sent(parts: list[Json]) -> None:
    turn = continued()

    act = turn.frames([init(*parts)], 1)

    assert act == Output()
    assert (turn.outcome, turn.rejection) == (Outcome.REFUSED, Rejection.CLOSED)


def test_one_closed_question_of_two_refuses_both() -> None:
    turn = continued(YES, QuestionReply("q2", Raw(b"true")))

    assert turn.frames([init(called(), approval("q1"))], 1) == Output()
    assert turn.rejection is Rejection.CLOSED


@pytest.mark.parametrize(
    "data", [{"runnerBusy": False, "runningTurnId": None}, {"runningTurnId": "t9"}]
)
def test_without_a_running_turn_it_is_refused(data: Json) -> None:
    turn = continued()

    assert turn.frames([init(called(), approval(), **data)], 1) == Output()
    assert turn.rejection is Rejection.CLOSED


def test_another_channel_is_refused() -> None:
    look = ResumeRequest(user_id="u1", init_s=5, replies=[YES], channel=Channel("web", "other"))
    turn = Turn(DIALECTS["v2"].resume(look), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    turn.frames([init(called(), approval())], 1)

    assert turn.rejection is Rejection.CLOSED


@pytest.mark.parametrize(
    ("turn_id", "about", "fits"),
    [
        (f.OURS, Approval("c1", "bash", Raw(b'{ "n": 1 }')), True),
        (f.OURS, Approval("c1", "bash", Raw(b'{"n":2}')), False),
        (f.OURS, Approval("c2", "bash", Raw(b'{"n":1}')), False),
        ("turn-0", Approval("c1", "bash", Raw(b'{"n":1}')), False),
    ],
)
def test_only_what_was_shown_is_approved(turn_id: str, about: Approval, fits: bool) -> None:  # noqa: FBT001
    turn = continued(QuestionReply("q1", Raw(b"true"), subject(turn_id, about)))

    act = turn.frames([init(called(), approval())], 1)

    assert (len(act.to_agent), turn.rejection) == ((1, None) if fits else (0, Rejection.CLOSED))


def test_what_is_no_approval_any_more_is_not_approved() -> None:
    about = Approval("c1", "bash", Raw(b'{"n":1}'))
    turn = continued(QuestionReply("q1", Raw(b"true"), subject(f.OURS, about)))

    turn.frames([init(called(), question())], 1)

    assert turn.rejection is Rejection.CLOSED


def test_the_last_time_that_a_question_was_asked_counts() -> None:
    turn = continued()

    act = turn.frames([init(called(), approval(expired=True), text("Again:"), approval())], 1)

    assert (brief(act), len(act.to_agent)) == (["start"], 1)


def test_an_agent_that_sends_no_hydration_is_not_answered() -> None:
    turn = continued()

    assert turn.frames([f.part("x"), approval_frame()], 1) == Output()
    assert turn.handle(Tick(), 4.9) == Output()
    assert turn.handle(Tick(), 5) == Output()
    assert (turn.outcome, turn.rejection) == (Outcome.REFUSED, Rejection.UNSUPPORTED)


def approval_frame() -> bytes:
    return json.dumps(approval() | {"type": "question"}).encode()


def test_a_second_hydration_is_ignored() -> None:
    turn = continued()
    hydration = init(called(), approval())
    turn.frames([hydration], 1)

    assert turn.frames([hydration], 2) == Output()


def test_where_approvals_are_signed_one_takes_no_answer_that_is_not() -> None:
    turn = continued(terms=Terms(signed=True))

    assert turn.frames([init(called(), approval())], 1) == Output()
    assert (turn.outcome, turn.rejection) == (Outcome.REFUSED, Rejection.UNSIGNED)


def test_where_approvals_are_signed_a_question_is_answered_without() -> None:
    turn = continued(terms=Terms(signed=True))

    assert len(turn.frames([init(called(), question())], 1).to_agent) == 1


@pytest.mark.parametrize(("by", "why"), [("ann", Rejection.CLOSED), ("u1", None), (None, None)])
def test_who_asked_is_who_answers(by: str | None, why: Rejection | None) -> None:
    turn = continued(terms=Terms(asker_alone=True))
    hello = json.loads(init(called(), question()))
    hello["session"]["messages"][0] |= {} if by is None else {"userId": by}

    act = turn.frames([json.dumps(hello).encode()], 1)

    assert (len(act.to_agent), turn.rejection) == (0 if why else 1, why)
