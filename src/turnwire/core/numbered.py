"""A translator whose chunks have numbers that follow from the turn's content (`core.recut`)."""

from typing import ClassVar

from turnwire.core import events
from turnwire.core.chunks import Chunk
from turnwire.core.recut import Recut
from turnwire.core.translate import Translator


class Numbered(Translator):
    """For a client that counts chunks; `skip` is the number of those that it has."""

    steady: ClassVar[bool] = True

    def __init__(self, *, skip: int = 0, usage: bool = False, taken_id: str | None = None) -> None:
        super().__init__(usage=usage, taken_id=taken_id)
        self._recut = Recut(skip)

    @property
    def text_block(self) -> str | None:
        """None: no delta goes out as it came."""
        return None

    def feed(self, event: events.Event) -> list[Chunk]:
        return self._recut.take(super().feed(event))

    def fail(self, text: str) -> list[Chunk]:
        return self._recut.take(super().fail(text))

    def _between(self, parts: list[Chunk]) -> list[Chunk]:
        # When a call ends says nothing about where its text is cut.
        if parts and self._recut.follows(parts[0]):
            return parts
        return super()._between(parts)
