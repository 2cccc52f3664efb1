"""The suite has a short form, which CI runs, and a long one (`make chaos LONG=1`)."""

import os
from typing import Final

LONG: Final = os.environ.get("LONG", "0") not in {"", "0"}


def either(short: int, long: int) -> int:
    """How much of something, by the form that runs."""
    return long if LONG else short
