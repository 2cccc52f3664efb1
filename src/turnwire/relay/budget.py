"""What all streams together may hold: frames that are not whole, bytes that clients do not read.

Each stream has bounds of its own; these are for the day when all of them are
used at once. Whoever would hold more when there is no more gives up.
"""


class Budget:
    """`most_bytes` for the process; 0 is no limit."""

    def __init__(self, most_bytes: int = 0) -> None:
        self.held_bytes = 0
        self._most_bytes = most_bytes

    @property
    def is_spent(self) -> bool:
        return bool(self._most_bytes) and self.held_bytes > self._most_bytes


class Hold:
    """What one connection holds of a budget."""

    __slots__ = ("_budget", "held_bytes")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.held_bytes = 0

    def set(self, held_bytes: int) -> bool:
        """Hold so many bytes now. False: they are more than before, and more than there are."""
        more = held_bytes - self.held_bytes
        self.held_bytes = held_bytes
        self._budget.held_bytes += more
        return more <= 0 or not self._budget.is_spent
