"""A turn that somebody listens in on: what it is told, and what it does about it.

A stream that nobody listens in on has a plain `Turn`: which of the two it gets is decided once.
"""

import enum
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Protocol

from turnwire.core.act import Act
from turnwire.core.turn import Turn


class Input(enum.Enum):
    """What a turn is told. The value is the word for it in a recording."""

    OPENED = "opened"
    UNREACHABLE = "unreachable"
    FRAMES = "frames"
    AGENT_LEFT = "close"
    UNSOUND = "unsound"
    CLIENT_LEFT = "leave"
    CLIENT_STALLED = "stall"
    BLOCKED = "blocked"
    PROGRESSED = "progressed"
    HELD = "held"
    UNBLOCKED = "unblocked"
    DRAIN = "drain"
    TICK = "tick"


class Ear(Protocol):
    """Who listens in. It must not raise."""

    def heard(self, what: Input, now: float, frames: Sequence[bytes], count: int, /) -> None:
        """The turn is about to be told this; `count` is the bytes held, where it is about those."""
        ...

    def did(self, act: Act, now: float, /) -> None:
        """That was what it did."""
        ...


class Overheard(Turn):
    """See `Turn`."""

    ears: Sequence[Ear] = ()
    _is_within = False
    """Whether an input is under way that is made of others."""

    def opened(self, now: float) -> Act:
        self._before(Input.OPENED, now)
        return self._after(super().opened(now), now)

    def unreachable(self, now: float) -> Act:
        self._before(Input.UNREACHABLE, now)
        return self._after(super().unreachable(now), now)

    def frames(self, frames: Sequence[bytes], now: float) -> Act:
        self._before(Input.FRAMES, now, frames)
        self._is_within = True
        act = super().frames(frames, now)
        self._is_within = False
        return self._after(act, now)

    def portions(self, frame: bytes, now: float) -> Generator[Act, float | None, None]:
        self._before(Input.FRAMES, now, [frame])
        portions = super().portions(frame, now)
        self._is_within = True
        with suppress(StopIteration):
            act = next(portions)
            while True:
                self._is_within = False
                now = (yield self._after(act, now)) or now
                self._is_within = True
                act = portions.send(now)
        self._is_within = False

    def agent_left(self, now: float) -> Act:
        self._before(Input.AGENT_LEFT, now)
        return self._after(super().agent_left(now), now)

    def unsound(self, now: float) -> Act:
        if self._is_within:
            return super().unsound(now)
        self._before(Input.UNSOUND, now)
        return self._after(super().unsound(now), now)

    def client_left(self, now: float, *, stalled: bool = False) -> Act:
        self._before(Input.CLIENT_STALLED if stalled else Input.CLIENT_LEFT, now)
        return self._after(super().client_left(now, stalled=stalled), now)

    def blocked(self, now: float) -> Act:
        self._before(Input.BLOCKED, now)
        return self._after(super().blocked(now), now)

    def progressed(self, now: float, held_bytes: int = 0) -> Act:
        self._before(Input.PROGRESSED, now, count=held_bytes)
        self._is_within = True
        act = super().progressed(now, held_bytes)
        self._is_within = False
        return self._after(act, now)

    def held(self, held_bytes: int, now: float) -> Act:
        if self._is_within:
            return super().held(held_bytes, now)
        self._before(Input.HELD, now, count=held_bytes)
        return self._after(super().held(held_bytes, now), now)

    def unblocked(self, now: float) -> Act:
        self._before(Input.UNBLOCKED, now)
        return self._after(super().unblocked(now), now)

    def drain(self, now: float) -> Act:
        self._before(Input.DRAIN, now)
        return self._after(super().drain(now), now)

    def tick(self, now: float) -> Act:
        self._before(Input.TICK, now)
        return self._after(super().tick(now), now)

    def _before(
        self, what: Input, now: float, frames: Sequence[bytes] = (), count: int = 0
    ) -> None:
        for ear in self.ears:
            ear.heard(what, now, frames, count)

    def _after(self, act: Act, now: float) -> Act:
        for ear in self.ears:
            ear.did(act, now)
        return act
