"""One event loop for all: what one socket brought may not keep the others waiting.

Whoever has more to do than is done at once does a slice of it, and queues for the next. Of all
that queue one has its slice in each round of the loop; between two rounds the loop reads other
sockets and runs other timers. So however many sockets bring however much, what others wait for
them is one slice, and the slice that each of them begins with.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

SLICE_S: Final = 0.002
"""How long one goes on before others have their turn. The last step of a slice may end later."""

Work: TypeAlias = Callable[[], bool]
"""Does a slice. True: there is more."""


class Rounds:
    """The queue of those who have more to do; one for the process."""

    def __init__(self) -> None:
        self._queue: deque[Work] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, work: Work) -> None:
        """Queue for a slice, and again after it while there is more."""
        self._queue.append(work)
        if len(self._queue) == 1:
            asyncio.get_running_loop().call_soon(self._go_round)

    def _go_round(self) -> None:
        """Let the first one do a slice. What it raises ends that one alone."""
        loop = asyncio.get_running_loop()
        work = self._queue[0]
        try:
            if work():
                self._queue.append(work)
        finally:
            self._queue.popleft()
            if self._queue:
                loop.call_soon(self._go_round)


class Slices:
    """Work of one socket, a step at a time: a slice of it at once, the rest in the rounds."""

    __slots__ = ("_is_held", "_is_queued", "_rounds", "_work")

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self._work: Iterator[None] | None = None
        self._is_held = self._is_queued = False

    @property
    def are_left(self) -> bool:
        return self._work is not None

    def begin(self, work: Iterator[None]) -> None:
        """Do this, when nothing else is left. Its first slice is done when this returns."""
        self._work = work
        if self._slice():
            self._queue()

    def hold(self, *, is_held: bool) -> None:
        """Go on no more, or go on."""
        self._is_held = is_held
        if not is_held:
            self._queue()

    def drop(self) -> None:
        """Leave undone what is left."""
        self._work = None

    def _queue(self) -> None:
        if self._work is not None and not self._is_queued and not self._is_held:
            self._is_queued = True
            self._rounds.add(self._go_on)

    def _go_on(self) -> bool:
        self._is_queued = False
        self._is_queued = self._slice()
        return self._is_queued

    def _slice(self) -> bool:
        """Go on for a slice. True: there is more, and it may go on."""
        until = time.perf_counter() + SLICE_S
        try:
            while (work := self._work) is not None and not self._is_held:
                next(work)
                if time.perf_counter() >= until:
                    break
        except StopIteration:
            self._work = None
            return False
        except BaseException:
            self._work = None
            raise
        return self._work is not None and not self._is_held
