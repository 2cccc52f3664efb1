"""The memory budget of the process: count what requests hold, and end requests when it is spent.

These bytes are counted: request bodies until they are read, prompts until the agent's socket has
taken them, incomplete frames, what a protocol keeps of a turn, and sent data that clients have not
taken. Each of these has its own bound; the budget bounds their sum, for the case that many requests
use much at once.

Take a `Holder` for each request (`Budget.holder`), and a `Reservation` (`Holder.reserve`) for each
thing that the request holds.

There are two limits. The requests of one user may hold `user_bytes` together: beyond that, the
largest of them ends. But it does not end while the others hold at most `BESIDE_BYTES`, since this
limit is for several requests. All requests may hold `most_bytes` together. Until that is spent,
each user may use it. When it is spent, the user who holds most loses their largest request: a new
request does not end because another user holds the memory.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Self

SMALL_BYTES: Final = 16_384
"""A body or prompt of at most this size is not counted: each stream costs about that anyway."""

BESIDE_BYTES: Final = 1_048_576
"""What the requests of a user besides the largest may hold together, even if the largest alone
fills the user's limit."""

_NO_LIMIT: Final = float("inf")


def _do_nothing() -> None:
    """The callback of a reservation that ends no request."""


class _User:
    """One user: the bytes that are held for this user, and the requests that hold them."""

    __slots__ = ("_work_lock", "held_bytes", "holders")

    def __init__(self) -> None:
        self.held_bytes = 0
        self.holders: set[Holder] = set()
        self._work_lock: asyncio.Lock | None = None

    def work_lock(self) -> asyncio.Lock:
        """The lock for work that needs several times the counted memory: one such work per user."""
        if self._work_lock is None:
            self._work_lock = asyncio.Lock()
        return self._work_lock


class Budget:
    """The budget: `most_bytes` for the process, and `user_bytes` for each user; 0 is no limit."""

    def __init__(self, most_bytes: int = 0, user_bytes: int = 0) -> None:
        self.held_bytes = 0
        self._most_bytes = most_bytes or _NO_LIMIT
        self._user_bytes = user_bytes or _NO_LIMIT
        self._users: dict[str, _User] = {}

    def holder(self, user_id: str) -> "Holder":
        """Return the holder for one request of this user. It holds nothing yet."""
        return Holder(self, user_id)

    def is_spent(self, user: _User) -> bool:
        """Whether the process or this user holds more than the limit."""
        return self.held_bytes > self._most_bytes or self._exceeds_user_limit(user)

    def _exceeds_user_limit(self, user: _User) -> bool:
        """Whether the requests of this user hold too much together.

        False for a user with one request, whatever it holds: its parts have their own bounds.
        """
        if user.held_bytes <= self._user_bytes:
            return False
        return user.held_bytes - max(map(_held_bytes, user.holders)) > BESIDE_BYTES

    def make_room(self, requester: "Holder") -> bool:
        """End the largest requests until the limits hold. False: `requester` itself must end."""
        while self.is_spent(requester.user):
            user = requester.user
            if not self._exceeds_user_limit(user):
                user = max(self._users.values(), key=_held_bytes)
            holder = max(user.holders, key=_held_bytes)
            if holder is requester:
                return False
            holder.end()
        return True

    def add_holder(self, holder: "Holder", user_id: str) -> _User:
        """Register a request with its user, and return the user."""
        user = self._users.setdefault(user_id, _User())
        user.holders.add(holder)
        return user

    def remove_holder(self, holder: "Holder", user_id: str) -> None:
        user = self._users[user_id]
        user.holders.discard(holder)
        if not user.holders:
            del self._users[user_id]


class Holder:
    """One request, and all its reservations. Leaving the `with` block releases them."""

    __slots__ = (
        "_budget",
        "_reservations",
        "_user",
        "held_bytes",
        "request_reservation",
        "user_id",
    )

    def __init__(self, budget: Budget, user_id: str) -> None:
        self.held_bytes = 0
        self.user_id = user_id
        self._user: _User | None = None
        """Set with the first counted byte: most requests never hold one."""
        self._budget = budget
        self._reservations: list[Reservation] = []
        self.request_reservation: Reservation | None = None
        """The reservation for the request body, then for the prompt; None if it is small."""

    @property
    def user(self) -> _User:
        if self._user is None:
            self._user = self._budget.add_holder(self, self.user_id)
        return self._user

    def reserve(self, on_end: Callable[[], object] = _do_nothing) -> "Reservation":
        """Make a reservation. `on_end` ends the request, if this is its largest reservation."""
        reservation = Reservation(self._budget, self, on_end)
        self._reservations.append(reservation)
        return reservation

    def reserve_request(self, size: int) -> bool:
        """Reserve `size` bytes for the request body, and later for the prompt made of it.

        False: the request must end, as with `Reservation.set`.
        """
        if self.request_reservation is None:
            if size <= SMALL_BYTES:
                return True
            self.request_reservation = self.reserve()
        return self.request_reservation.set(size)

    def end(self) -> None:
        """End the request by its largest reservation, and set all reservations to 0."""
        max(self._reservations, key=_held_bytes).on_end()
        for reservation in self._reservations:
            reservation.set(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for reservation in self._reservations:
            reservation.release()  # breaks the reference cycle with the owner of `on_end`
        self._reservations.clear()
        self.request_reservation = None
        if self._user is not None:
            self._budget.remove_holder(self, self.user_id)


class Reservation:
    """Bytes of one kind that one request holds. `on_end` ends the request."""

    __slots__ = ("_budget", "_holder", "held_bytes", "on_end")

    def __init__(self, budget: Budget, holder: Holder, on_end: Callable[[], object]) -> None:
        self.held_bytes = 0
        self.on_end = on_end
        self._budget = budget
        self._holder = holder

    def set(self, held_bytes: int) -> bool:
        """Set the reserved bytes. False: they grew, and this request must end.

        The call may end other requests (`Budget.make_room`).
        """
        added_bytes = held_bytes - self.held_bytes
        if not added_bytes:
            return True
        self.held_bytes = held_bytes
        holder = self._holder
        holder.held_bytes += added_bytes
        user = holder.user
        user.held_bytes += added_bytes
        budget = self._budget
        budget.held_bytes += added_bytes
        return added_bytes < 0 or not budget.is_spent(user) or budget.make_room(holder)

    def release(self) -> None:
        """Hold nothing, and never call `on_end` again."""
        if self.held_bytes:
            self.set(0)
        self.on_end = _do_nothing


class OverBudgetError(Exception):
    """The budget is spent, and this work must give its memory back."""


def _held_bytes(counted: _User | Holder | Reservation) -> int:
    return counted.held_bytes
