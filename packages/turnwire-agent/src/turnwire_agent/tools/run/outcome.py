"""What a run of a tool comes to, for a model and for people."""

from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from turnwire_agent.tools.contract import Media, Output
from turnwire_agent.tools.nesting import is_too_deep

TEXT_MAX: Final = 256 * 1024
"""Most characters of a result that a model is sent. What is beyond is left out, and it says so."""
VALUE_MAX: Final = 8 * 1024 * 1024
"""Most bytes of the JSON that people are shown. Of a larger one they see what the model does."""
MEDIA_MAX: Final = 8 * 1024 * 1024
"""Most bytes of all pictures and files of one result."""

FAILED: Final = "The tool failed."
TOO_LONG: Final = "The tool took too long."
CANCELED: Final = "The tool was stopped."
NO_RESULT: Final = "The tool's result is not one that can be sent."
LARGE: Final = "The tool's pictures and files are too large."

_check: Final = msgspec.json.Decoder(msgspec.Raw).decode


class ToolOutcome(Struct, frozen=True, kw_only=True):
    """How a run ended."""

    kind: Literal["done", "failed", "canceled"]
    parts: tuple[str | Media, ...] = ()
    """For the model."""
    value: bytes | None = None
    """For people: JSON, if it says more than `parts`."""
    error: str | None = None
    """For people, unless it is done: fixed words, or those of `ToolFailed`."""


def failed(words: str) -> ToolOutcome:
    """A run that has no result, in words for the model and for people."""
    return ToolOutcome(kind="failed", parts=(words,), error=words)


def done(result: Any) -> ToolOutcome:
    """Return the outcome of what a tool returned."""
    if isinstance(result, Output):
        if sum(len(part.data) for part in result.parts if isinstance(part, Media)) > MEDIA_MAX:
            return failed(LARGE)
        parts = tuple(_short(p) if isinstance(p, str) else p for p in result.parts)
        return ToolOutcome(kind="done", parts=parts)
    if isinstance(result, str) and len(result) <= TEXT_MAX:
        return ToolOutcome(kind="done", parts=(result,))
    try:
        value = msgspec.json.encode(result)
        _check(value)  # what a tool calls `Raw` is taken as it is
    except (TypeError, ValueError, OverflowError, RecursionError):
        return failed(NO_RESULT)
    if is_too_deep(value):
        return failed(NO_RESULT)
    text = _short(result if isinstance(result, str) else value.decode())
    return ToolOutcome(kind="done", parts=(text,), value=value if len(value) <= VALUE_MAX else None)


def _short(text: str) -> str:
    if len(text) <= TEXT_MAX:
        return text
    return f"{text[:TEXT_MAX]}\n(The result is {len(text)} characters long: the rest is left out.)"
