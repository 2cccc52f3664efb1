"""Why a model ended: the words of `finish_reason`, which each host has of its own."""

from typing import Final

from turnwire.core.bounds import WORD_MAX

ERROR: Final = "error"

CALLING: Final = frozenset({"tool_calls", "function_call", "tool_call", "tool_use"})
"""Those of a model that ended to have tools run."""

_WHOLE: Final = CALLING | {
    *("stop", "stop_sequence", "eos", "eos_token", "end", "end_turn", "end_of_turn"),
    *("complete", "completed", "done", "finished", "success"),
}
"""Those of a whole answer."""

_CUT_SHORT: Final = {
    **dict.fromkeys(
        ("length", "max_length", "model_length", "max_tokens", "max_output_tokens", "token_limit"),
        "length",
    ),
    **dict.fromkeys(
        (
            *("content_filter", "content_filtered", "safety", "image_safety", "recitation"),
            *("blocklist", "prohibited_content", "spii", "sensitive", "guardrail_intervened"),
        ),
        "content-filter",
    ),
    "refusal": "refusal",
}
"""The words for a reason that the client is shown."""

_NONE: Final = frozenset({"", "null"})


def read(value: object) -> str | None:
    """Return a reason in one spelling: small letters, `_` between words; None if it is none.

    A value that is no string is a reason that nobody knows: the model ended.
    """
    if not value:
        return None
    if not isinstance(value, str):
        return "unknown"
    reason = value[:WORD_MAX].casefold().replace("-", "_")
    return None if reason in _NONE else reason


def cut_short(reason: str) -> str | None:
    """Return why an answer is not whole, as the client is shown it; None if it is whole."""
    return None if reason in _WHOLE else _CUT_SHORT.get(reason, "other")


def is_cut_short(reason: str | None) -> bool:
    """Whether it is a known reason for which an answer is not whole."""
    return reason in _CUT_SHORT
