"""An approval takes a yes or a no, with a reason or without one, and nothing else."""

import pytest
from msgspec import Raw

from turnwire.core.events import Approval, Question
from turnwire.core.terms import takes

ABOUT_A_CALL = Question("q1", Raw(b'{"kind":"approval"}'), Approval("c1", "rm", Raw(b"{}")))
WITHOUT_A_CALL = Question("q1", Raw(b'{"kind":"approval"}'), shown=Raw(b"{}"))

VERDICTS = (
    b"true",
    b"false",
    b'{"approved":true}',
    b'{"approved":false,"reason":"no"}',
    b'{"approved":true,"reason":null}',
)
OTHERS = (
    b'"yes"',
    b"1",
    b"null",
    b"[]",
    b"{}",
    b'{"approved":"yes"}',
    b'{"approved":true,"reason":1}',
    b'{"approved":true,"editedArgs":{"path":"b"}}',
)


@pytest.mark.parametrize("question", [ABOUT_A_CALL, WITHOUT_A_CALL], ids=["call", "no call"])
def test_an_approval_takes_a_yes_or_a_no_alone(question: Question) -> None:
    assert [answer for answer in VERDICTS if not takes(question, Raw(answer))] == []
    assert [answer for answer in OTHERS if takes(question, Raw(answer))] == []


def test_a_question_takes_any_answer() -> None:
    question = Question("q1", Raw(b"{}"))

    assert all(takes(question, Raw(answer)) for answer in (*VERDICTS, *OTHERS))


@pytest.mark.parametrize(("payload", "is_free"), [(b'{"options":[]}', True), (b"[", False)])
def test_an_approval_with_options_takes_one_of_them(payload: bytes, *, is_free: bool) -> None:
    question = Question("q1", Raw(payload), shown=Raw(payload))

    assert takes(question, Raw(b'"allow-always"')) is is_free
