"""What a tool asks a person while it runs.

A question goes by its call, its number in the run, and its words. So a run after a crash that asks
the same finds the answer in the journal, and one that asks something else is not given that answer.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from turnwire_agent.session.events import QuestionAsked

QUESTIONS_MAX: Final = 100
"""Most questions of one run."""
TEXT_MAX: Final = 10_000
"""Most characters of a question."""
OPTIONS_MAX: Final = 100
OPTION_MAX: Final = 1_000
"""Most characters of an option."""

_DIGITS: Final = 16


def question(
    turn_id: str,
    call_id: str,
    number: int,
    text: str,
    options: Sequence[str],
    *,
    at: float,
    expires_at: float,
) -> QuestionAsked:
    """Return the question of a tool.

    Args:
        turn_id: Of the turn.
        call_id: Of the call that runs.
        number: Of the question in its run, from 1.
        text: What is asked.
        options: What may be answered. None: any text.
        at: Seconds since 1970.
        expires_at: Seconds since 1970.

    Raises:
        ValueError: it is beyond a bound.

    """
    if number > QUESTIONS_MAX:
        raise ValueError(f"a run asks at most {QUESTIONS_MAX} questions")
    if not 0 < len(text) <= TEXT_MAX:
        raise ValueError(f"a question has 1 to {TEXT_MAX} characters")
    if len(options) > OPTIONS_MAX or not all(0 < len(each) <= OPTION_MAX for each in options):
        raise ValueError(f"at most {OPTIONS_MAX} options, of 1 to {OPTION_MAX} characters")
    words = "\0".join((text, *options)).encode("utf-8", "surrogatepass")
    return QuestionAsked(
        turn_id=turn_id,
        question_id=f"{turn_id}-{call_id}-{number}-{hashlib.sha256(words).hexdigest()[:_DIGITS]}",
        text=text,
        options=tuple(options),
        expires_at=expires_at,
        asked_by=call_id,
        at=at,
    )
