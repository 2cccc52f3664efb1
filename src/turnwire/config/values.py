"""Kinds of numbers that settings may be."""

from typing import Annotated, Final

from msgspec import Meta

SECONDS_MAX: Final = 1_000_000
"""Eleven days. Sockets hold their timeouts in milliseconds, in 31 bits."""

WHOLE_MAX: Final = 2**53
"""The greatest count that metrics, which are floats, hold exactly."""

Seconds = Annotated[float, Meta(gt=0, le=SECONDS_MAX)]
LongTime = Annotated[int, Meta(gt=0, le=315_360_000)]
"""Whole seconds, up to ten years. No socket waits for it."""
Port = Annotated[int, Meta(ge=0, le=65535)]
Count = Annotated[int, Meta(ge=0, le=WHOLE_MAX)]
Positive = Annotated[int, Meta(gt=0, le=WHOLE_MAX)]
Bytes = Positive
