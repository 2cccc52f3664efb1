"""A question of a tool goes by its call, its number and its words."""

from typing import Any

import pytest

from runtime.loop.journal import NOW
from turnwire_agent.loop.calls.questions import (
    OPTION_MAX,
    OPTIONS_MAX,
    QUESTIONS_MAX,
    TEXT_MAX,
    question,
)
from turnwire_agent.session.events import QuestionAsked


def asked(
    call_id: str = "c0", number: int = 1, text: str = "Which?", options: tuple[str, ...] = ()
) -> QuestionAsked:
    return question("t", call_id, number, text, options, at=NOW, expires_at=NOW + 9)


def test_the_same_question_of_the_same_call_has_the_same_id() -> None:
    first = asked(options=("a", "b"))

    assert asked(options=("a", "b")) == first
    assert first.question_id.startswith("t-c0-1-")
    assert (first.text, first.options, first.asked_by) == ("Which?", ("a", "b"), "c0")
    assert first.call_id is None, "it is no approval"
    others = [asked("c1"), asked(number=2), asked(text="Who?"), asked(options=("ab",)), asked()]
    assert len({each.question_id for each in [first, *others]}) == 6
    assert asked(text="\ud800").question_id, "half a character is no fault of the tool"


@pytest.mark.parametrize(
    ("beyond", "words"),
    [
        ({"number": QUESTIONS_MAX + 1}, "at most 100 questions"),
        ({"text": ""}, "1 to 10000 characters"),
        ({"text": "x" * (TEXT_MAX + 1)}, "1 to 10000 characters"),
        ({"options": ("x",) * (OPTIONS_MAX + 1)}, "at most 100 options"),
        ({"options": ("x" * (OPTION_MAX + 1),)}, "of 1 to 1000 characters"),
        ({"options": ("a", "")}, "of 1 to 1000 characters"),
    ],
)
def test_a_question_beyond_a_bound_is_refused(beyond: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        asked(**beyond)


def test_a_question_at_a_bound_is_asked() -> None:
    options = ("x" * OPTION_MAX,) * OPTIONS_MAX

    assert asked(number=QUESTIONS_MAX, text="x" * TEXT_MAX, options=options).options == options
