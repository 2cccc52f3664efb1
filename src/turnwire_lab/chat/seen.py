"""What of a turn was shown already: a resumed stream sends all of it once more.

Text comes in the same order every time, but in other pieces; so its length is compared.
"""

from collections.abc import Hashable

from turnwire_lab.client import chunks
from turnwire_lab.client.chunks import Chunk
from turnwire_lab.client.question import Question


class _Progress:
    """Text or reasoning: how much was shown, and how much this stream has sent."""

    def __init__(self) -> None:
        self.shown = 0
        self.at = 0

    def rest(self, delta: str) -> str:
        """What is new of the next delta."""
        known = max(0, self.shown - self.at)
        self.at += len(delta)
        self.shown = max(self.shown, self.at)
        return delta[known:]


class Seen:
    """What was shown of one turn."""

    def __init__(self) -> None:
        self.turn_id: str | None = None
        self._text = _Progress()
        self._reasoning = _Progress()
        self._once: set[Hashable] = set()

    def start_over(self) -> None:
        """Another stream of the same turn begins."""
        self._text.at = self._reasoning.at = 0

    def news(self, chunk: Chunk) -> Chunk | None:
        """What there is to show of a chunk; None if it was shown."""
        match chunk:
            case chunks.Start(str(turn_id)):
                self.turn_id = turn_id
                return chunk
            case chunks.TextDelta(block_id, delta):
                return chunks.TextDelta(block_id, self._text.rest(delta))
            case chunks.ReasoningDelta(block_id, delta):
                return chunks.ReasoningDelta(block_id, self._reasoning.rest(delta))
            case chunks.TextEnd() | chunks.ReasoningEnd():
                return None if self._is_behind else chunk
            case chunks.ToolInputStart(call_id) | chunks.ToolInputAvailable(call_id):
                return self._first(chunk, type(chunk), call_id)
            case (
                chunks.ToolOutputAvailable(call_id, preliminary=False)
                | chunks.ToolOutputError(call_id)
                | chunks.ToolOutputDenied(call_id)
            ):
                return self._first(chunk, "outcome", call_id)
            case Question(question_id, state=state):
                return self._first(chunk, question_id, state)
            case chunks.File(url):
                return self._first(chunk, "file", url)
            case chunks.SourceUrl(source_id):
                return self._first(chunk, "source", source_id)
            case _:
                return chunk

    @property
    def _is_behind(self) -> bool:
        return any(progress.at < progress.shown for progress in (self._text, self._reasoning))

    def _first(self, chunk: Chunk, *key: Hashable) -> Chunk | None:
        if key in self._once:
            return None
        self._once.add(key)
        return chunk
