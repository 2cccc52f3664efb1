"""What an answer may be."""

import pytest

from turnwire.core.body.answer import check_answer
from turnwire.core.steps import run_steps
from turnwire.errors import BadRequest


@pytest.mark.parametrize(
    "answer",
    [b"null", b'"yes"', b"[" * 32 + b"]" * 32, b'{"a":' * 32 + b"1" + b"}" * 32, b"[[],[],[[]]]"],
)
def test_an_answer_is_any_json(answer: bytes) -> None:
    run_steps(check_answer(answer))


def test_brackets_of_a_text_do_not_count() -> None:
    run_steps(check_answer(b'["' + b"[" * 999 + b'"]'))


def test_many_lists_beside_one_another_are_not_deep() -> None:
    run_steps(check_answer(b"[" + b",".join([b"[{}]"] * 999) + b"]"))


@pytest.mark.parametrize("depth", [33, 970, 100_000])
def test_an_answer_that_later_frames_could_not_hold_is_refused(depth: int) -> None:
    with pytest.raises(BadRequest, match="deeper than 32"):
        run_steps(check_answer(b"[" * depth + b"]" * depth))


@pytest.mark.parametrize("answer", [b"", b"[", b"nul", b'"\xff"', b"1 2"])
def test_an_answer_that_is_no_json_is_refused(answer: bytes) -> None:
    with pytest.raises(BadRequest, match="not valid JSON"):
        run_steps(check_answer(answer))
