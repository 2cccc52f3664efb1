"""What the end of an answer means for its turn. Total: each reason that a model gives has a row."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from turnwire_agent.llm.events import Finish, FinishReason, Usage
from turnwire_agent.loop import words
from turnwire_agent.session.events import Reason, StepEnded


class Meaning(Struct, frozen=True):
    """What follows an answer."""

    reason: Reason = "end_turn"
    """Of the turn, if it ends with this answer."""
    finish_reason: str = "stop"
    error: str | None = None
    calls: Literal["run", "repair", "end"] = "run"
    """What becomes of its calls: they are run; they are not, and the model is told so; they are
    not, and the turn ends."""


MEANINGS: Final[Mapping[FinishReason, Meaning]] = {
    "stop": Meaning(),  # some servers say so with calls in the answer
    "tool-calls": Meaning(finish_reason="other"),  # this is read if there are no calls
    "other": Meaning(finish_reason="other"),
    "length": Meaning(finish_reason="length", calls="repair"),
    "content-filter": Meaning(finish_reason="content-filter", calls="end"),
    "error": Meaning("error", "error", words.FAILED_ANSWER, "end"),
}
OVERFLOW: Final = Meaning(finish_reason="context", calls="end")
"""The answer filled the window of the model."""
OVERFLOW_WORDS: Final = frozenset({"model_context_window_exceeded"})
"""Providers' words for it, where they are no fault."""


def meaning(step: StepEnded, window: int | None) -> Meaning:
    """Return what follows an answer. A reason of a newer program is `other`."""
    if overflows(step.finish_reason, step.raw, step.usage, window):
        return OVERFLOW
    return MEANINGS.get(step.finish_reason, MEANINGS["other"])  # type: ignore[call-overload,no-any-return]


def finish_overflows(finish: Finish, window: int | None) -> bool:
    """Whether an answer filled the window of its model."""
    return overflows(finish.reason, finish.raw, finish.usage, window)


def overflows(reason: str, raw: str, usage: Usage, window: int | None) -> bool:
    """Whether an answer filled the window, by its reason or by its tokens.

    Some servers cut the beginning of a transcript that is too long, and say nothing. Others stop an
    answer at the end of the window as if it was as long as was asked for.
    """
    if raw in OVERFLOW_WORDS:
        return True
    if window is None or usage.input is None:
        return False
    tokens = usage.input + (usage.output or 0)
    return tokens > window or (reason == "length" and tokens == window)
