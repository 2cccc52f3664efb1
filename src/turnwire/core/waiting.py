"""Questions that came, and cannot be told yet: it is not known what the client has of its turn."""

from turnwire.core.bounds import WAITING_BYTES_MAX
from turnwire.core.events import Question, QuestionClosed
from turnwire.core.questions import OPEN_MAX


class Waiting:
    """What was asked and closed, in its order. The oldest is forgotten where it is too much."""

    def __init__(self) -> None:
        self._held: list[Question | QuestionClosed] = []
        self._bytes = 0

    def add(self, event: Question | QuestionClosed) -> None:
        self._held.append(event)
        self._bytes += _size(event)
        while len(self._held) > 2 * OPEN_MAX or self._bytes > WAITING_BYTES_MAX:
            self._bytes -= _size(self._held.pop(0))

    def take(self) -> list[Question | QuestionClosed]:
        """What waits no more."""
        held, self._held = self._held, []
        self._bytes = 0
        return held


def _size(event: Question | QuestionClosed) -> int:
    kept = event.payload if isinstance(event, Question) else event.answer
    return 0 if kept is None else len(kept)
