"""The queue of R (page 6, step 4).

R's frames about the queue carry no ids, so the gateway only counts its rows.
"""


class QueuePosition:
    """The position of our prompt in the queue. `length` is the number of rows in the queue.

    The queue is first in, first out. So our prompt is out of the queue when all rows ahead of
    it are out. It is also out as soon as the queue has no more rows than came in behind our
    prompt; this repairs the count after a missed frame. The agent itself may add rows behind
    ours without a frame, and reports only when they leave. So neither of the two counts is
    enough alone.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        self._ahead = self._behind = 0

    def enter(self, position: int | None) -> None:
        """Our prompt was queued, as the last row."""
        self.length = self.length + 1 if position is None else position
        self._ahead = self.length - 1
        self._behind = 0

    def enter_other(self, position: int | None) -> None:
        """Another prompt was queued."""
        self.length = self.length + 1 if position is None else position
        self._behind += 1

    def advance(self, remaining: int | None) -> bool:
        """A row was handed to the runner. True: our prompt is out of the queue."""
        self.length = max(0, self.length - 1) if remaining is None else remaining
        self._ahead -= 1
        self._behind = min(self._behind, self.length)
        return self._ahead < 0 or self.length <= self._behind

    def requeued(self, length: int | None) -> None:
        """The runner was lost. Its prompt, one row, is now the head of the queue (page 5.10)."""
        previous, self.length = self.length, self.length + 1 if length is None else length
        self._ahead += self.length > previous

    def clear(self) -> None:
        self.length = self._ahead = self._behind = 0
