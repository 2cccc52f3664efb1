"""`POST …/answer` on the `v2` wire: by whom a question is answered, and with what."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support.continued import approval, called, init, question
from turnwire.core.approvals import subject
from turnwire.core.events import Approval
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest, QuestionReply
from turnwire.core.terms import Terms
from turnwire.dialects.v2 import V2

SIGNED = Terms(signed=True)
CALL = Approval("c1", "bash", Raw(b'{ "n": 1 }'))


def answer(hello: bytes | None, terms: Terms, **more: Any) -> tuple[int, object]:
    """How many answers the agent hears, and what becomes of ours."""
    given = AnswerRequest(
        user_id="u1",
        init_s=5,
        verdict_s=3,
        reply=QuestionReply("q1", Raw(b"true"), **more),
        terms=terms,
    )
    operation = V2().answer(given)
    operation.connection_opened(0)
    told = operation.tick(5) if hello is None else operation.receive_frame(hello, 1)
    return len(told), operation.result


def init_by(user_id: object, entry: str) -> bytes:
    """An `init` that says who asked, in the turn's own entry or in its prompt's."""
    hello = json.loads(init(called(), question()))
    turn = hello["session"]["messages"][0]
    prompt = {"id": "m1", "role": "user", "promptId": "p9", "parts": []}
    {"turn": turn, "prompt": prompt}[entry]["userId"] = user_id
    hello["session"]["messages"] = [prompt, turn]
    return json.dumps(hello).encode()


def test_where_approvals_are_signed_one_takes_no_answer_that_is_not() -> None:
    assert answer(init(called(), approval()), SIGNED) == (0, Rejection.UNSIGNED)
    assert answer(init(called(), approval()), Terms()) == (1, None)


def test_where_approvals_are_signed_a_question_is_answered_without() -> None:
    assert answer(init(called(), question()), SIGNED) == (1, None)


@pytest.mark.parametrize("turn_id", ["turn-1", "turn-1:answer", ""])
def test_an_approval_takes_what_was_signed_for_it(turn_id: str) -> None:
    given = subject(turn_id, CALL)

    assert answer(init(called(), approval()), SIGNED, subject=given) == (1, None)


@pytest.mark.parametrize(
    "shown",
    [approval(args={"n": 2}), approval(toolName="rm"), approval(call="c2"), question()],
)
def test_it_takes_nothing_that_was_signed_for_something_else(shown: dict[str, Any]) -> None:
    given = subject("turn-1", CALL)

    assert answer(init(called(), shown), SIGNED, subject=given) == (0, Rejection.CLOSED)


def test_the_last_time_that_it_was_asked_counts() -> None:
    hello = init(called(), approval(), approval(args={"n": 2}))

    assert answer(hello, SIGNED, subject=subject("turn-1", CALL)) == (0, Rejection.CLOSED)


def test_what_is_closed_is_closed_whoever_signed_it() -> None:
    assert answer(init(called(), approval(answer=True)), SIGNED) == (0, Rejection.CLOSED)


def test_without_a_hello_nobody_can_tell_an_approval_from_a_question() -> None:
    assert answer(None, SIGNED) == (0, Rejection.UNSUPPORTED)
    assert answer(None, Terms()) == (1, None)


@pytest.mark.parametrize("entry", ["turn", "prompt"])
@pytest.mark.parametrize(
    ("by", "told"),
    [("ann", (0, Rejection.UNKNOWN)), ("u1", (1, None)), (None, (1, None)), (7, (1, None))],
)
def test_who_asked_is_who_answers(entry: str, by: object, told: tuple[int, object]) -> None:
    hello = init_by(by, entry)

    assert answer(hello, Terms(asker_alone=True)) == told
    assert answer(hello, Terms()) == (1, None)
