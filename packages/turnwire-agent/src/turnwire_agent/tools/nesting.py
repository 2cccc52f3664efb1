"""How deep JSON is nested.

A reader of JSON that is nested deeper than Python's stack fails. What is kept is read again inside
of something else, and from another place: so it may be nested less deep than could be read once.
"""

import re
from typing import Final

LEVELS_MAX: Final = 128
"""Most objects and arrays inside each other, of what somebody else wrote."""

_STRINGS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKETS: Final = re.compile(rb"[][{}]")


def is_too_deep(json: bytes) -> bool:
    """Whether valid JSON is nested deeper than `LEVELS_MAX`."""
    if json.count(b"[") + json.count(b"{") <= LEVELS_MAX:  # nearly always
        return False
    level = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", json)):
        if bracket in b"]}":
            level -= 1
        elif level == LEVELS_MAX:
            return True
        else:
            level += 1
    return False
