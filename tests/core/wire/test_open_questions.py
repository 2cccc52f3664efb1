"""The open questions, ours and those of others, as far as all dialects keep them alike."""

import pytest

from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.wire.open_questions import OpenQuestions


class Asked(OpenQuestions[str]):
    """Questions with their channels; a frame names a channel, or none."""

    def closed(self, question_id: str, channel: str | None, *, may_be_ours: bool = True) -> bool:
        elsewhere = [
            key for key in self._elsewhere if key[0] == question_id and channel in {None, key[1]}
        ]
        return self._close(question_id, elsewhere, may_be_ours=may_be_ours)


def test_a_question_is_closed_once() -> None:
    asked = Asked()
    asked.add_ours("q")

    assert asked.closed("q", None)
    assert not asked.closed("q", None)


def test_what_is_not_about_our_turn_closes_none_of_ours() -> None:
    asked = Asked()
    asked.add_ours("q")

    assert not asked.closed("q", "a", may_be_ours=False)
    assert asked.closed("q", None)


@pytest.mark.parametrize("others", [["a"], ["a", "b"]])
def test_what_may_mean_several_closes_none(others: list[str]) -> None:
    asked = Asked()
    asked.add_ours("q")
    for channel in others:
        asked.add_elsewhere("q", channel)

    assert not asked.closed("q", None)
    for channel in others:
        assert not asked.closed("q", channel, may_be_ours=False)
    assert asked.closed("q", None), "once the others are closed"


def test_the_oldest_are_forgotten() -> None:
    asked = Asked()

    for number in range(OPEN_QUESTIONS_MAX + 1):
        asked.add_ours(f"q{number}")
    assert not asked.closed("q0", None)
    assert asked.closed("q1", None)

    asked.add_ours("q")
    for number in range(OpenQuestions.ELSEWHERE_MAX + 1):
        asked.add_elsewhere("q" if number == 0 else f"q{number}", "a")
    assert asked.closed("q", None), "the first of the others is forgotten"


def test_a_question_that_is_repeated_forgets_no_other() -> None:
    asked = Asked()

    for number in range(OPEN_QUESTIONS_MAX):
        asked.add_ours(f"q{number}")
    asked.add_ours("q1")

    assert asked.closed("q0", None)


def test_the_questions_of_one_socket_are_not_those_of_another() -> None:
    one, other = Asked(), Asked()
    one.add_elsewhere("q", "a")
    other.add_ours("q")

    assert other.closed("q", None)
