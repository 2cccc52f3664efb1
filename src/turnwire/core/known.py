"""What a client has of a message that goes on, so that nothing is told twice.

A stream that ends with a request for approval has told some of what came after
the question, if another tool kept it open. Where exactly it ended nobody keeps;
the client's own message, which comes back with the answer, says it in numbers.
A stream that broke may have left calls and questions open that are over by now;
those are told how they ended.
"""

import enum

from msgspec import Struct


class What(enum.Enum):
    """What is counted: characters of text and reasoning, and parts of the others."""

    TEXT = enum.auto()
    REASONING = enum.auto()
    FILES = enum.auto()
    SOURCES = enum.auto()


class Known(Struct, frozen=True, kw_only=True):
    """How much of each a message has. `message_id` is the client's id of it."""

    message_id: str | None = None
    text: int = 0
    texts: int = 0
    """Blocks of text."""
    reasoning: int = 0
    reasonings: int = 0
    files: int = 0
    sources: int = 0
    pending: frozenset[str] = frozenset()
    """Calls without an outcome and questions that are open, by the ids that the client has."""
    blank: frozenset[str] = frozenset()
    """Of these the calls without an input."""


class Left:
    """How much of that has not been told again yet."""

    def __init__(self, known: Known) -> None:
        self._left = {
            What.TEXT: known.text,
            What.REASONING: known.reasoning,
            What.FILES: known.files,
            What.SOURCES: known.sources,
        }

    def take(self, what: What, count: int = 1) -> int:
        """So much is told now. Returns how much of it, from its start, the client has."""
        has = min(count, self._left[what])
        self._left[what] -= has
        return has
