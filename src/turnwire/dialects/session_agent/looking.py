"""Long frames, looked into before they are heard: what would be built of them, and what is."""

import contextlib
from collections.abc import Iterator
from typing import Final

import msgspec

from turnwire.core import harmless
from turnwire.core.bounds import FIELDS_MAX, PARTS_MAX, VALUES_MAX
from turnwire.core.census import census
from turnwire.dialects.session_agent import wire
from turnwire.dialects.session_agent.hydration import Ahead

_LOOKED: Final = {
    # The frame, its session, the session's messages, a message, its parts.
    "init": (5, VALUES_MAX),
    # The frame, its data, the parts.
    "message.updated": (3, 4 * PARTS_MAX),
    # The frame, its prompt, the actions.
    "interactive_prompt": (3, FIELDS_MAX),
}
"""Types that are taken apart: how deep, and the most values that may stand there."""


def look_into(frame: bytes, ahead: Ahead | None = None) -> Iterator[None]:
    """Count what would be built of a frame, in short steps.

    `ahead`, where there is one, has the entries of an `init` then.

    Raises:
        TooManyError: it is more than anybody means.

    """
    found = harmless.kinds(frame, tuple(_LOOKED))
    yield
    for kind in found:
        depth, most = _LOOKED[kind]
        # Of what is no strict JSON it is not known which of them it is.
        yield from census(frame, depth, most if len(found) == 1 else VALUES_MAX)
    if "init" in found and ahead is not None:
        yield from _read(frame, ahead)


def _read(frame: bytes, ahead: Ahead) -> Iterator[None]:
    try:
        heard = msgspec.json.decode(frame, type=wire.Init)
    except (msgspec.DecodeError, RecursionError):
        heard = None  # whoever hears it counts it, or it is of another type
    yield
    if heard is not None:
        with contextlib.suppress(RecursionError):  # the same
            yield from ahead.read(heard.session)
