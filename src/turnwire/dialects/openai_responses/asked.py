"""The approvals that a response asks for, from its first word of them to its end."""

from typing import Final

from msgspec import Raw

from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.events import Event
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses import approvals
from turnwire.dialects.openai_responses.approvals import Request
from turnwire.dialects.openai_responses.calls import Calls
from turnwire.dialects.openai_responses.items import Item

BYTES_MAX: Final = 1_048_576
"""Most bytes of the inputs of all requests of a response."""

_REQUEST_BYTES: Final = 256
"""What a request takes beside its input."""


class Asked:
    """The requests of a response. Their calls have a card each, and wait."""

    def __init__(self, calls: Calls, frame_stats: FrameStats) -> None:
        self.requests: dict[str, Request] = {}
        """By the ids of their questions."""
        self.has_unreadable = False
        """Whether an approval was asked for that nobody can give."""
        self._added: dict[int, bytes] = {}
        """The items that were only added, by their index."""
        self._bytes = 0
        self._calls = calls
        self._frame_stats = frame_stats

    @property
    def kept_bytes(self) -> int:
        """About how many bytes of the agent's are kept."""
        return self._bytes

    def add(self, index: int, raw: Raw) -> None:
        """A request begins. Its item may come again when it is done, or in the end."""
        if self._bytes + len(raw) > BYTES_MAX or len(self._added) >= OPEN_QUESTIONS_MAX:
            self._refuse(len(raw))
            return
        self._bytes += len(raw) - len(self._added.get(index, b""))
        self._added[index] = bytes(raw)

    def end(self, index: int, item: Item) -> list[Event]:
        """A request is whole."""
        self._bytes -= len(self._added.pop(index, b""))
        request = approvals.request_of(item)
        if request is None:
            self._refuse(0)
            return []
        question_id = request.question_id(None)
        if question_id in self.requests:
            return []
        size = len(request.input) + _REQUEST_BYTES
        if len(self.requests) >= OPEN_QUESTIONS_MAX or self._bytes + size > BYTES_MAX:
            self._refuse(size)
            return []
        self._bytes += size
        self.requests[question_id] = request
        return self._calls.wait(request.request_id, request.name, request.input)

    @property
    def only_added(self) -> list[tuple[int, bytes]]:
        """The items that were added, and are not done; with their indexes."""
        return list(self._added.items())

    def take(self) -> dict[str, Request]:
        """Return the requests, and keep them no longer."""
        requests, self.requests = self.requests, {}
        self._added.clear()
        self._bytes = 0
        return requests

    def _refuse(self, size: int) -> None:
        self._frame_stats.count_left_out("request for an approval", size)
        self.has_unreadable = True
