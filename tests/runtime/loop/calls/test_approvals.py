import pytest
from msgspec import UNSET, Raw

from turnwire_agent.loop import words
from turnwire_agent.loop.calls.approvals import approved, refusal

YES = [b"true", b'{"approved":true}', b'"approve"', b'"Approved "', b'"allow"', b'" YES"']
NO = [
    b"false",
    b'{"approved":false}',
    b'{"approved":"yes"}',
    b'"deny"',
    b'"yes, but"',
    b"1",
    b"null",
    b"[true]",
    b"{",
    b"",
]


@pytest.mark.parametrize("answer", YES)
def test_a_plain_yes_is_approval(answer: bytes) -> None:
    assert approved(Raw(answer))


@pytest.mark.parametrize("answer", NO)
def test_anything_else_is_none(answer: bytes) -> None:
    assert not approved(Raw(answer))


def test_no_answer_is_none() -> None:
    assert not approved(UNSET)
    assert refusal(UNSET) == words.EXPIRED


@pytest.mark.parametrize(
    "answer", [b"false", b'"deny"', b'" No "', b'""', b"1", b"{", b'{"reason":" "}']
)
def test_a_refusal_may_have_no_reason(answer: bytes) -> None:
    assert refusal(Raw(answer)) == words.DENIED


@pytest.mark.parametrize("answer", [b'{"approved":false,"reason":"Too early"}', b'"Too early"'])
def test_the_reason_of_a_person_is_for_the_model(answer: bytes) -> None:
    assert refusal(Raw(answer)) == f"{words.DENIED} The reason: Too early"


def test_a_reason_has_a_bound() -> None:
    assert len(refusal(Raw(b'"%s"' % (b"x" * 5_000)))) < words.REASON_MAX + 100
