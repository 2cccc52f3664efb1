"""What a `Turn` answers to each input: what is to be done now."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct


class Act(Struct, frozen=True):
    """What to do now. The response headers go out before the first write."""

    write: bytes = b""
    """For the client."""
    tell: Sequence[bytes] = ()
    """Text frames for the agent."""
    cut: bool = False
    """Close the client's connection over what it has not read, and read from the agent again."""


NOTHING: Final = Act()
