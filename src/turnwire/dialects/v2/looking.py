"""Long frames, looked into before they are heard: what would be built of them, and what is."""

import contextlib
from collections.abc import Iterator
from typing import Final

import msgspec

from turnwire.core import harmless
from turnwire.core.bounds import FIELDS_MAX, VALUES_MAX
from turnwire.core.census import census
from turnwire.dialects.v2.frames import Init, decode
from turnwire.dialects.v2.hydration import Ahead

_LOOKED: Final = {
    # The frame, its session, the session's messages, a message, its parts.
    "init": (5, VALUES_MAX),
    "question": (1, FIELDS_MAX),
}
"""Types that are taken apart: how deep, and the most values that may stand there."""


def look_into(frame: bytes, ahead: Ahead) -> Iterator[None]:
    """Count what would be built of a frame, and read the entries of an `init`, in short steps.

    Raises:
        TooManyError: it is more than anybody means.

    """
    found = harmless.kinds(frame, tuple(_LOOKED))
    yield
    if not found:
        return
    depth = max(_LOOKED[kind][0] for kind in found)
    most = max(_LOOKED[kind][1] for kind in found)
    yield from census(frame, depth, most)
    try:
        heard = decode(frame)
    except (msgspec.DecodeError, RecursionError):
        heard = None  # whoever hears it counts it
    yield
    if isinstance(heard, Init):
        with contextlib.suppress(RecursionError):  # the same
            yield from ahead.read(heard.session)
