"""On which terms a question is answered."""

import json

import pytest
from msgspec import Raw

from turnwire.core.approvals import (
    ID_FIELD,
    ApprovalIssuer,
    Signed,
    Signer,
    subject,
    subjects,
    with_id,
)
from turnwire.core.events import Approval, Question
from turnwire.core.rejection import Rejection
from turnwire.core.terms import Terms

CALL = Approval("c1", "bash", Raw(b'{"n":1}'))
PLAIN = Question("q1", Raw(b'{"text":"Tea?"}'))
OF_A_CALL = Question("q1", Raw(b"{}"), CALL)
NAMELESS = Question("q1", Raw(b"{}"), shown=Raw(b'{"text":"May it?","n":[1]}'))
SIGNER = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")
REQUESTS = ApprovalIssuer(signer=SIGNER, epoch=0, valid_s=60)


@pytest.mark.parametrize(
    ("terms", "asker", "admitted"),
    [
        (Terms(), "ann", True),
        (Terms(asker_alone=True), "u1", True),
        (Terms(asker_alone=True), None, True),
        (Terms(asker_alone=True), "ann", False),
    ],
)
def test_who_may_answer(terms: Terms, asker: str | None, admitted: bool) -> None:  # noqa: FBT001
    assert terms.admit("u1", asker) is admitted


@pytest.mark.parametrize("question", [OF_A_CALL, NAMELESS])
def test_where_approvals_are_signed_one_takes_no_answer_that_is_not(question: Question) -> None:
    assert Terms(signed=True).rejection(question, None) is Rejection.UNSIGNED
    assert Terms().rejection(question, None) is None


def test_a_question_takes_an_answer_that_is_not_signed() -> None:
    assert Terms(signed=True).rejection(PLAIN, None) is None
    assert Terms(signed=True).rejection(PLAIN, b"a subject") is Rejection.CLOSED


@pytest.mark.parametrize("turn_id", ["t1", "t1:answer", None])
def test_an_approval_takes_what_was_signed_for_it(turn_id: str | None) -> None:
    approval_id = REQUESTS.approval_id(turn_id, OF_A_CALL, 0)
    assert approval_id is not None
    signed = SIGNER.read(approval_id, 1)
    assert isinstance(signed, Signed)

    assert Terms().rejection(OF_A_CALL, signed.subject, ["t1", "t1:answer"]) is None
    other = msg(args=b'{"n":2}')
    assert Terms().rejection(other, signed.subject, ["t1", "t1:answer"]) is Rejection.CLOSED


def msg(args: bytes) -> Question:
    return Question("q1", Raw(b"{}"), Approval("c1", "bash", Raw(args)))


def test_one_that_names_no_call_is_signed_for_what_it_shows_in_any_turn() -> None:
    same = Question("q1", Raw(b"{}"), shown=Raw(b'{ "n": [1], "text": "May it?" }'))
    other = Question("q1", Raw(b"{}"), shown=Raw(b'{"text":"May it?","n":[2]}'))

    (signed,) = set(subjects(NAMELESS, ["t1", "t2"]))

    assert signed in subjects(same, [])
    assert signed not in subjects(other, ["t1"])
    assert signed != subject("", Approval("", "", NAMELESS.shown))


@pytest.mark.parametrize(
    ("payload", "approval_id", "told"),
    [
        (b'{"text":"a"}', "id", {"text": "a", ID_FIELD: "id"}),
        (b'{"text":"a","approvalId":"theirs"}', "id", {"text": "a", ID_FIELD: "id"}),
        (b'{"text":"a","approvalId":"theirs"}', None, {"text": "a"}),
        (b'{"text":"a","approvalId":null}', None, {"text": "a"}),
        (b'{"text":"a"}', None, {"text": "a"}),
        (b"[1]", "id", {ID_FIELD: "id"}),
    ],
)
def test_the_id_in_a_question_is_the_gateways(
    payload: bytes, approval_id: str | None, told: dict[str, str]
) -> None:
    question = with_id(Question("q1", Raw(payload), CALL), approval_id)

    assert json.loads(bytes(question.payload)) == told
    assert (question.question_id, question.approval) == ("q1", CALL)


def test_a_question_without_an_id_stays_as_the_agent_wrote_it() -> None:
    question = Question("q1", Raw(b'{ "text": "a" }'), CALL)

    assert with_id(question, None) == question


def test_an_id_that_is_too_long_is_not_ours() -> None:
    assert not isinstance(SIGNER.read("A" * 4_096, 1), Signed)
