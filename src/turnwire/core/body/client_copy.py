"""How much of a continued message the client already has, so that nothing is sent twice.

Use: `core.body.continuation` counts the parts of the message that comes back, as a `ClientCopy`.
The translator makes a `Remaining` of it and asks `take` how much of each part to skip.

A stream that ends with a request for approval may have sent parts that came after
the question, if another tool kept the stream open. The gateway does not keep where the
stream ended; the client's own message, which comes back with the answer, shows it.
If a stream broke, the client's message may hold open calls and questions that have ended since;
the translator sends their outcomes.
"""

import enum

from msgspec import Struct


class PartKind(enum.Enum):
    """What is counted: characters of text and reasoning; files, sources, data without an id."""

    TEXT = enum.auto()
    REASONING = enum.auto()
    FILES = enum.auto()
    SOURCES = enum.auto()
    DATA = enum.auto()


class ClientCopy(Struct, frozen=True, kw_only=True):
    """How much of each kind of part the client's message has. `message_id` is the client's id."""

    message_id: str | None = None
    text_chars: int = 0
    text_blocks: int = 0
    reasoning_chars: int = 0
    reasoning_blocks: int = 0
    files: int = 0
    sources: int = 0
    data: int = 0
    """Data parts without an id. One with an id is sent again, since it replaces itself."""
    pending: frozenset[str] = frozenset()
    """The client's ids of calls without an outcome and of open questions."""
    without_input: frozenset[str] = frozenset()
    """The client's ids of those calls in `pending` that have no input."""


class Remaining:
    """How much of a `ClientCopy` the replayed turn has not reached yet."""

    def __init__(self, client_copy: ClientCopy) -> None:
        self._counts = {
            PartKind.TEXT: client_copy.text_chars,
            PartKind.REASONING: client_copy.reasoning_chars,
            PartKind.FILES: client_copy.files,
            PartKind.SOURCES: client_copy.sources,
            PartKind.DATA: client_copy.data,
        }

    def copy(self) -> "Remaining":
        """Return a copy that later calls of `take` do not change."""
        copied = Remaining(ClientCopy())
        copied._counts = self._counts.copy()
        return copied

    def take(self, kind: PartKind, count: int = 1) -> int:
        """Consume `count` units that are about to be sent.

        Returns how many of them, from the first one on, the client already has. Units are
        characters or parts, see `PartKind`.
        """
        skipped = min(count, self._counts[kind])
        self._counts[kind] -= skipped
        return skipped
