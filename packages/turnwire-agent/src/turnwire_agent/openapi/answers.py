"""The answer of an API, as the result of a tool."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from turnwire_agent.tools.contract import Media, Output, ToolFailed

ERROR_CHARS: Final = 2_000
"""Most characters of what a server says about an error."""

_MULTIPLE_CHOICES: Final = 300
_BAD_REQUEST: Final = 400
_UNAUTHORIZED: Final = 401
_TEXTS: Final = ("application/xml", "application/javascript", "application/yaml")


class Answer(Struct, frozen=True):
    """What came back. Its body may be secret, and is not shown."""

    status: int
    media_type: str
    """In small letters, without its parameters."""
    body: bytes
    cut: bool = False
    """There was more of it."""

    def __repr__(self) -> str:
        return f"Answer({self.status}, {self.media_type!r}, …)"


def result_of(answer: Answer) -> Any:
    """Return JSON as a value, text as a text, a picture as one.

    Raises:
        ToolFailed: the server did not do it, in its own words.
    """
    if answer.status == _UNAUTHORIZED:
        raise ToolFailed("The server does not accept our credential (401).")
    if answer.status >= _BAD_REQUEST:
        words = _text(answer)[:ERROR_CHARS].strip() if _is_text(answer) else ""
        raise ToolFailed(f"The server answered {answer.status}{': ' if words else '.'}{words}")
    if answer.status >= _MULTIPLE_CHOICES:
        raise ToolFailed(f"The server points elsewhere ({answer.status}), which is not followed.")
    if not answer.body:
        return f"Done (status {answer.status})."
    if answer.media_type.startswith("image/") and not answer.cut:
        return Output((Media(answer.media_type, answer.body),))
    if _is_json(answer) and not answer.cut:
        try:
            return msgspec.json.decode(answer.body)
        except (msgspec.DecodeError, RecursionError):
            return _text(answer)
    if _is_text(answer):
        rest = "\n[the answer is longer: the rest was left out]" if answer.cut else ""
        return _text(answer) + rest
    size = f"more than {len(answer.body)}" if answer.cut else str(len(answer.body))
    return f"[{answer.media_type[:80] or 'a body without a type'} of {size} bytes was left out]"


def _is_json(answer: Answer) -> bool:
    return answer.media_type == "application/json" or answer.media_type.endswith("+json")


def _is_text(answer: Answer) -> bool:
    kind = answer.media_type
    return _is_json(answer) or kind.startswith("text/") or kind.endswith("+xml") or kind in _TEXTS


def _text(answer: Answer) -> str:
    return answer.body.decode("utf-8", "replace")
