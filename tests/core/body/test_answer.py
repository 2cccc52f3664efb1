"""What an answer may be."""

import pytest

from turnwire.core.body.answer import check_answer
from turnwire.errors import BadRequest


@pytest.mark.parametrize(
    "answer",
    [b"null", b'"yes"', b"[" * 64 + b"]" * 64, b'{"a":' * 64 + b"1" + b"}" * 64, b"[[],[],[[]]]"],
)
def test_an_answer_is_any_json(answer: bytes) -> None:
    check_answer(answer)


def test_brackets_of_a_text_do_not_count() -> None:
    check_answer(b'["' + b"[" * 999 + b'"]')


def test_many_lists_beside_one_another_are_not_deep() -> None:
    check_answer(b"[" + b",".join([b"[{}]"] * 999) + b"]")


@pytest.mark.parametrize("depth", [65, 970, 100_000])
def test_an_answer_that_later_frames_could_not_hold_is_refused(depth: int) -> None:
    with pytest.raises(BadRequest, match="deeper than 64"):
        check_answer(b"[" * depth + b"]" * depth)


@pytest.mark.parametrize("answer", [b"", b"[", b"nul", b'"\xff"', b"1 2"])
def test_an_answer_that_is_no_json_is_refused(answer: bytes) -> None:
    with pytest.raises(BadRequest, match="not valid JSON"):
        check_answer(answer)
