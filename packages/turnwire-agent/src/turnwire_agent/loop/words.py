"""What a model and people are told in fixed words. Never a provider's or an exception's text."""

from collections.abc import Mapping
from typing import Final

# --- for the model, and for people where it is about a call ----------------------------------

STEP_LIMIT: Final = "Not run: step limit."
NOT_RUN: Final = "Not run: the turn ended before."
CUT: Final = (
    "Not run: your answer reached its longest length, so its calls may be incomplete. Write a"
    " shorter answer, or make fewer calls at once."
)
TOO_MANY_CALLS: Final = "Not run: too many calls in one answer."
TOO_MANY_REPAIRS: Final = "Not run: too many calls before could not be run."
STOPPED: Final = "It was stopped while it ran. What it did until then is not undone."
UNKNOWN: Final = (
    "It is not known whether this was done: the program that ran it ended before it had the"
    " outcome. It was not run again. Find out before you repeat it."
)
DENIED: Final = "A person did not allow this call. It was not run."
EXPIRED: Final = "Nobody answered in time whether this call is allowed. It was not run."
REASON_MAX: Final = 1_000
"""Most characters of a person's reason."""

# --- for people: why a turn ended as an error ------------------------------------------------

_UNAVAILABLE: Final = "The model is not available at the moment. Try again later."
_BROKEN: Final = "The answer of the model broke off several times. Try again."
_SETUP: Final = "The model cannot be asked: its set-up is not right. Whoever runs this can see why."

TOO_LONG: Final = "too-long"
"""Why an attempt is lost whose answer has more characters than `Limits.answer_chars`."""
LOSSES: Final[Mapping[str, str]] = {
    "bad-request": "The model does not take this request.",
    "unauthorized": _SETUP,
    "forbidden": _SETUP,
    "not-found": _SETUP,
    "too-large": "The conversation holds more than can be sent to the model.",
    "context-overflow": "The conversation is too long for the model.",
    "rate-limited": "The model has too many requests at the moment. Try again later.",
    "quota": "What may be used of the model is used up.",
    "overloaded": "The model is overloaded at the moment. Try again later.",
    "server": _UNAVAILABLE,
    "connection": _UNAVAILABLE,
    "timeout": "The model did not answer in time. Try again.",
    "truncated": _BROKEN,
    "malformed": _BROKEN,
    "refused": "The provider of the model refuses this request.",
    TOO_LONG: "The answer of the model is too long.",
}
"""By why the last attempt was lost: a kind of fault, or `TOO_LONG`."""
_WAIT_MAX_S: Final = 1e6
FAILED_ANSWER: Final = "The model ended its answer with an error."
OUT_OF_TIME: Final = "The answer took too long, and was stopped."
TAKEN_OVER: Final = "The answer was interrupted too often, and was given up."
RERUNS: Final = "Too much of the answer had to be done again, so it was given up."
REPAIRS: Final = "The model called its tools wrongly several times, and was stopped."


def of_loss(why: str, retry_after_s: float | None) -> str:
    """Say why a turn ends whose attempt was lost, and how long to wait if the provider says so."""
    sentence = LOSSES.get(why, _UNAVAILABLE)
    if retry_after_s is None or not sentence.endswith("later."):
        return sentence
    seconds = round(min(max(1.0, retry_after_s), _WAIT_MAX_S))
    wait = f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} minutes"  # noqa: PLR2004
    return f"{sentence.removesuffix('later.')}in {wait}."
