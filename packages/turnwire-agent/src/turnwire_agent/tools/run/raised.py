"""Where an exception was raised, and never its text: that may be a secret, or somebody's words."""

import traceback
from typing import Final

FRAMES_MAX: Final = 20


def described(error: BaseException) -> str:
    """Return the type of an exception and the functions that it came through, the inmost first."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES_MAX:]
    where = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} at {where}"
