"""Long frames, looked into before they are heard: what would be built of them, and what is."""

from collections.abc import Iterator
from typing import Final

import msgspec

from turnwire.core import harmless
from turnwire.core.bounds import FIELDS_MAX
from turnwire.core.census import census_of
from turnwire.dialects.v2.frames import Init, decode
from turnwire.dialects.v2.hydration import Ahead

_INIT_DEPTH: Final = 5
"""The frame, its session, the session's messages, a message, its parts."""


def look_into(frame: bytes, ahead: Ahead) -> Iterator[None]:
    """Count what would be built of a frame, and read the entries of an `init`, in short steps.

    Raises:
        TooManyError: it is more than anybody means.

    """
    if harmless.may_be(frame, "question"):
        yield from census_of(frame, "question", 1, FIELDS_MAX)
    elif harmless.may_be(frame, "init"):
        yield from census_of(frame, "init", _INIT_DEPTH)
        try:
            heard = decode(frame)
        except (msgspec.DecodeError, RecursionError):
            return  # whoever hears it counts it
        yield
        if isinstance(heard, Init):
            yield from ahead.read(heard.session)
