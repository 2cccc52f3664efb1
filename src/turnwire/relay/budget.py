"""What the process holds for people, who holds how much of it, and who ends when there is no more.

Counted are request bodies until they are read, prompts until the agent's socket took them, frames
that are not whole, and what clients were sent and have not taken. Each of these has a bound of
its own; this one is for the day when many are used at once.

A user may hold so much with several requests; one more, and the largest of them ends. While there
is room, anybody may use it. When it is spent, the user pays who holds most, with the largest
request of theirs: a newcomer does not end for what somebody else has parked.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Self

SMALL_BYTES: Final = 16_384
"""What is asked in less is not counted: it is a part of what a stream costs anyway."""

BESIDE_BYTES: Final = 1_048_576
"""What may be held beside a request that takes all of its user's share."""

_NO_LIMIT: Final = float("inf")


def _nothing() -> None:
    """Nobody has to be told."""


class _User:
    """What is held for one user, and for which requests."""

    __slots__ = ("_turn", "held_bytes", "holders")

    def __init__(self) -> None:
        self.held_bytes = 0
        self.holders: set[Holder] = set()
        self._turn: asyncio.Lock | None = None

    def one_by_one(self) -> asyncio.Lock:
        """For what takes several times the memory that is counted, while it is done."""
        if self._turn is None:
            self._turn = asyncio.Lock()
        return self._turn


class Budget:
    """`most_bytes` for the process, and `user_bytes` for each user; 0 is no limit."""

    def __init__(self, most_bytes: int = 0, user_bytes: int = 0) -> None:
        self.held_bytes = 0
        self._most_bytes = most_bytes or _NO_LIMIT
        self._user_bytes = user_bytes or _NO_LIMIT
        self._users: dict[str, _User] = {}

    def holder(self, user_id: str) -> "Holder":
        """What is going to be held for one request of a user; nothing yet."""
        return Holder(self, user_id)

    def is_spent(self, user: _User) -> bool:
        """Whether there is no room, in all or for this user."""
        return self.held_bytes > self._most_bytes or self._is_over(user)

    def _is_over(self, user: _User) -> bool:
        """Whether requests of theirs hold too much together; one alone has bounds of its own."""
        if user.held_bytes <= self._user_bytes:
            return False
        return user.held_bytes - max(map(_held_bytes, user.holders)) > BESIDE_BYTES

    def make_room(self, asking: "Holder") -> bool:
        """Have those end who hold most, until there is room. False: that is who asks."""
        while self.is_spent(asking.user):
            user = asking.user
            if not self._is_over(user):
                user = max(self._users.values(), key=_held_bytes)
            holder = max(user.holders, key=_held_bytes)
            if holder is asking:
                return False
            holder.end()
        return True

    def enter(self, holder: "Holder", user_id: str) -> _User:
        """Count what this request holds among what its user does."""
        user = self._users.setdefault(user_id, _User())
        user.holders.add(holder)
        return user

    def leave(self, holder: "Holder", user_id: str) -> None:
        user = self._users[user_id]
        user.holders.discard(holder)
        if not user.holders:
            del self._users[user_id]


class Holder:
    """One request, and all that is held for it. After the `with` that is nothing."""

    __slots__ = ("_budget", "_holds", "_user", "asked", "held_bytes", "user_id")

    def __init__(self, budget: Budget, user_id: str) -> None:
        self.held_bytes = 0
        self.user_id = user_id
        self._user: _User | None = None
        """From the first byte: most requests never hold one that counts."""
        self._budget = budget
        self._holds: list[Hold] = []
        self.asked: Hold | None = None
        """The part for what was asked, where that is worth counting."""

    @property
    def user(self) -> _User:
        if self._user is None:
            self._user = self._budget.enter(self, self.user_id)
        return self._user

    def hold(self, on_end: Callable[[], object] = _nothing) -> "Hold":
        """A part of it. `on_end` ends the request, where this part is the largest of it."""
        hold = Hold(self._budget, self, on_end)
        self._holds.append(hold)
        return hold

    def ask(self, size: int) -> bool:
        """Hold so much of what was asked: of its body, and then of what the agent is to be sent.

        False: as with `Hold.set`.
        """
        if self.asked is None:
            if size <= SMALL_BYTES:
                return True
            self.asked = self.hold()
        return self.asked.set(size)

    def end(self) -> None:
        """Have the request end for what it holds, and hold no more of it."""
        max(self._holds, key=_held_bytes).on_end()
        for hold in self._holds:
            hold.set(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for hold in self._holds:
            hold.drop()  # or who is told and the hold would hold each other
        self._holds.clear()
        self.asked = None
        if self._user is not None:
            self._budget.leave(self, self.user_id)


class Hold:
    """A part of what is held for a request, of one kind."""

    __slots__ = ("_budget", "_holder", "held_bytes", "on_end")

    def __init__(self, budget: Budget, holder: Holder, on_end: Callable[[], object]) -> None:
        self.held_bytes = 0
        self.on_end = on_end
        self._budget = budget
        self._holder = holder

    def set(self, held_bytes: int) -> bool:
        """Hold so many bytes now. False: they are more than before, and this request is to end.

        Another one may have been told to, so that there is room.
        """
        more = held_bytes - self.held_bytes
        if not more:
            return True
        self.held_bytes = held_bytes
        holder = self._holder
        holder.held_bytes += more
        user = holder.user
        user.held_bytes += more
        budget = self._budget
        budget.held_bytes += more
        return more < 0 or not budget.is_spent(user) or budget.make_room(holder)

    def drop(self) -> None:
        """Hold nothing, and have nobody told."""
        if self.held_bytes:
            self.set(0)
        self.on_end = _nothing


class NoRoomError(Exception):
    """What was held is to be held no more: there is no room."""


def _held_bytes(each: _User | Holder | Hold) -> int:
    return each.held_bytes


def uncounted() -> Hold:
    """A part of a budget that has no limit, for what no user asked for."""
    return Budget().holder("").hold()
