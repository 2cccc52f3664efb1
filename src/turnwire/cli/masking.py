"""Leave a token out of a report that is printed."""

import re
from typing import Final

SECRET_MIN: Final = 8
"""Fewest characters of a token that is masked in the report. A shorter one is no secret."""
LONG: Final = 20
"""From so many characters on, a token is also masked inside of a longer word."""


def masked(text: str, token: str) -> str:
    """Return the report without the token, which an answer of a proxy may contain.

    A token of less than `LONG` characters is masked only as a whole word, since it may be part of
    an ordinary word. One of less than `SECRET_MIN` may be a word of the report: it stays.
    """
    if len(token) < SECRET_MIN:
        return text
    pattern = re.escape(token)
    if len(token) < LONG:
        pattern = rf"(?<!\w){pattern}(?!\w)"
    return re.sub(pattern, "[token]", text)
