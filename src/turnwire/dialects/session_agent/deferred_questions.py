"""Questions that cannot be sent yet, since it is unknown which parts of the turn the client has."""

from turnwire.core.bounds import OPEN_QUESTIONS_MAX, WAITING_BYTES_MAX
from turnwire.core.events import Question, QuestionEvent


class DeferredQuestions:
    """Questions and their closings, in order. Beyond the limits the oldest one is dropped."""

    def __init__(self) -> None:
        self._events: list[QuestionEvent] = []
        self._bytes = 0

    def add(self, event: QuestionEvent) -> None:
        self._events.append(event)
        self._bytes += _size(event)
        while len(self._events) > 2 * OPEN_QUESTIONS_MAX or self._bytes > WAITING_BYTES_MAX:
            self._bytes -= _size(self._events.pop(0))

    def take(self) -> list[QuestionEvent]:
        """Remove and return all events."""
        events, self._events = self._events, []
        self._bytes = 0
        return events


def _size(event: QuestionEvent) -> int:
    raw = event.payload if isinstance(event, Question) else event.answer
    return 0 if raw is None else len(raw)
