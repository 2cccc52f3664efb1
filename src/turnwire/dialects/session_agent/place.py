"""R's queue, whose frames carry no ids: what is known of it is how long it is (page 6, step 4)."""


class Place:
    """Rows in the queue, ours among them while it waits; `length` of them in all.

    The queue is first in, first out, so ours is out of it when all that stood
    ahead of it are, and also as soon as no more rows are left than came in
    behind it, which heals a frame that was missed. Rows that the system itself
    queues behind ours come without a word and go with one, so that neither
    count does alone.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        self._ahead = self._behind = 0

    def enter(self, position: int | None) -> None:
        """Ours was queued, as the last one."""
        self.length = self.length + 1 if position is None else position
        self._ahead = self.length - 1
        self._behind = 0

    def another(self, position: int | None) -> None:
        """Another prompt was queued."""
        self.length = self.length + 1 if position is None else position
        self._behind += 1

    def moved(self, remaining: int | None) -> bool:
        """A row was handed to the runner. True: ours is out of the queue."""
        self.length = max(0, self.length - 1) if remaining is None else remaining
        self._ahead -= 1
        self._behind = min(self._behind, self.length)
        return self._ahead < 0 or self.length <= self._behind

    def requeued(self, length: int | None) -> None:
        """The runner was lost, and what it ran, one row, is the head of the queue (page 5.10)."""
        before, self.length = self.length, self.length + 1 if length is None else length
        self._ahead += self.length > before

    def clear(self) -> None:
        self.length = self._ahead = self._behind = 0
