"""One event loop for all: what one socket brought may not keep the others waiting.

Whoever has more to do than is done at once does a slice of it, and queues for the next. Of all
that queue one has its slice in each round of the loop; between two rounds the loop reads other
sockets and runs other timers. Whoever begins does a first slice at once, which is shorter for
those who begin in the same round as others did. So however many sockets bring however much, what
others wait for them in a round is two slices, and a tenth of a millisecond for each socket.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Final, TypeAlias, TypeVar

SLICE_S: Final = 0.002
"""How long one goes on before others have their turn. The last step of a slice may end later."""

LEAST_S: Final = 0.0001
"""The same, for one that begins when this round was used up by others."""

ENTER: Final = 8
"""Newcomers of a round: two milliseconds' worth of them."""

Work: TypeAlias = Callable[[], bool]
"""Does a slice. True: there is more."""

Result = TypeVar("Result")


class Rounds:
    """The queue of those who have more to do; one for the process."""

    def __init__(self) -> None:
        self.door = Door()
        self._queue: deque[Work] = deque()
        self._used_s = 0.0
        """By those who began in this round."""

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, work: Work) -> None:
        """Queue for a slice, and again after it while there is more."""
        self._queue.append(work)
        if len(self._queue) == 1:
            asyncio.get_running_loop().call_soon(self._go_round)

    def first_slice(self, work: Callable[[float], bool]) -> bool:
        """Have somebody begin, until the time that is given. Returns what that returns."""
        began = time.perf_counter()
        try:
            return work(began + max(LEAST_S, SLICE_S - self._used_s))
        finally:
            if not self._used_s:
                asyncio.get_running_loop().call_soon(self._next_round)
            self._used_s += time.perf_counter() - began

    def _next_round(self) -> None:
        self._used_s = 0.0

    async def turn(self) -> None:
        """Wait for a turn. The slice is done when this returns, in the next round."""
        turn = asyncio.get_running_loop().create_future()

        def come() -> bool:
            if not turn.done():
                turn.set_result(None)
            return False

        self.add(come)
        await turn

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


class Door:
    """Those who come with something new: a few in each round, so that others go on meanwhile.

    What has begun takes a number of rounds, and is done the sooner the shorter these are. Of those
    who wait, one who was here before enters after each one who was not.
    """

    def __init__(self) -> None:
        self._new: deque[Callable[[], bool]] = deque()
        self._again: deque[Callable[[], bool]] = deque()
        self._entered = 0
        self._is_counting = False

    def is_open(self) -> bool:
        """Count one who comes. False: it has to wait."""
        if self._new or self._again or self._entered >= ENTER:
            return False
        self._enter()
        return True

    def give_back(self) -> None:
        """Count one the less: who came in began nothing."""
        self._entered -= 1

    def wait(self, enter: Callable[[], bool], *, is_new: bool) -> None:
        """Have this called when it is its turn; it returns whether anything began.

        `is_open` said that there are others before.
        """
        (self._new if is_new else self._again).append(enter)

    def _enter(self) -> None:
        if not self._is_counting:
            self._is_counting = True
            asyncio.get_running_loop().call_soon(self._next_round)
        self._entered += 1

    def _next_round(self) -> None:
        self._entered, self._is_counting = 0, False
        while (self._new or self._again) and self._entered < ENTER:
            self._enter()
            both = (self._again, self._new) if self._entered % 2 else (self._new, self._again)
            enter = (both[0] or both[1]).popleft()
            try:
                if not enter():
                    self.give_back()
            except Exception as problem:  # noqa: BLE001 (it is that one's alone)
                loop = asyncio.get_running_loop()
                loop.call_exception_handler({"message": "a bug", "exception": problem})


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
        if self._rounds.first_slice(self._slice):
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
        self._is_queued = self._slice(time.perf_counter() + SLICE_S)
        return self._is_queued

    def _slice(self, until: float) -> bool:
        """Go on until then. True: there is more, and it may go on."""
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


async def done(rounds: Rounds, steps: Generator[None, None, Result]) -> Result:
    """Take these steps, a slice of them at once and the rest in the rounds. Returns their result.

    What they raise is raised. Steps that are not taken when this is cancelled never are.
    """
    over: list[Result] = []

    def work(until: float) -> bool:
        try:
            while True:
                next(steps)
                if time.perf_counter() >= until:
                    return True
        except StopIteration as end:
            over.append(end.value)
            return False

    try:
        is_more = rounds.first_slice(work)
        while is_more:
            await rounds.turn()
            is_more = work(time.perf_counter() + SLICE_S)
        return over.pop()
    finally:
        steps.close()
