"""Cooperative scheduling: long work runs in time slices, so that it does not block the event loop.

Work that takes longer than a slice runs one slice, and queues for the next one. In each round of
the event loop one queued work runs one slice; between two rounds the loop reads other sockets and
runs other timers. New work runs a first slice at once. That slice is shorter if other work began
in the same round. So the delay that all this work adds to one round is two slices, and 0.1 ms for
each socket that begins work, for any number of sockets and any amount of data.

Use `Slices` for the work of one socket, `run_in_slices` in a coroutine, and `Door` to limit how
many requests begin in one round.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Final, TypeAlias, TypeVar

SLICE_S: Final = 0.002
"""Length of a slice, in seconds. The last step of a slice may end later."""

MIN_SLICE_S: Final = 0.0001
"""Length of a first slice when other first slices have used up the round, in seconds."""

ENTRIES_PER_ROUND: Final = 8
"""Requests that may begin in one round: they take about two milliseconds."""

Work: TypeAlias = Callable[[], bool]
"""Runs one slice. True: there is more to do."""

Result = TypeVar("Result")


class Rounds:
    """The queue of unfinished work; one for the process."""

    def __init__(self) -> None:
        self.door = Door()
        self._queue: deque[Work] = deque()
        self._used_s = 0.0
        """Seconds that first slices took in this round."""

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, work: Work) -> None:
        """Queue the work for a slice, and again after each slice while `work` returns True."""
        self._queue.append(work)
        if len(self._queue) == 1:
            asyncio.get_running_loop().call_soon(self._run_next)

    def first_slice(self, work: Callable[[float], bool]) -> bool:
        """Call `work` with the time (`time.perf_counter`) at which to stop. Return its result."""
        began = time.perf_counter()
        try:
            return work(began + max(MIN_SLICE_S, SLICE_S - self._used_s))
        finally:
            if not self._used_s:
                asyncio.get_running_loop().call_soon(self._next_round)
            self._used_s += time.perf_counter() - began

    def _next_round(self) -> None:
        self._used_s = 0.0

    async def wait_for_slice(self) -> None:
        """Wait for a slice. The caller runs it when this returns, in the next round."""
        future = asyncio.get_running_loop().create_future()

        def wake() -> bool:
            if not future.done():
                future.set_result(None)
            return False

        self.add(wake)
        await future

    def _run_next(self) -> None:
        """Run one slice of the first work in the queue. An exception ends that work alone."""
        loop = asyncio.get_running_loop()
        work = self._queue[0]
        try:
            if work():
                self._queue.append(work)
        finally:
            self._queue.popleft()
            if self._queue:
                loop.call_soon(self._run_next)


class Door:
    """Limits how many requests begin in one round, so that running work makes progress.

    Work that has begun needs a number of rounds: the shorter the rounds, the sooner it is done.
    Waiting requests enter alternately from two queues: connections that had no request before, and
    connections that had one.
    """

    def __init__(self) -> None:
        self._first_calls: deque[Callable[[], bool]] = deque()
        self._repeat_calls: deque[Callable[[], bool]] = deque()
        self._entered = 0
        self._is_counting = False

    def is_open(self) -> bool:
        """Count one entry. False: the round is full, and the request must `wait`."""
        if self._first_calls or self._repeat_calls or self._entered >= ENTRIES_PER_ROUND:
            return False
        self._enter()
        return True

    def return_entry(self) -> None:
        """Take one entry back: the caller entered, but began nothing."""
        self._entered -= 1

    def wait(self, enter: Callable[[], bool], *, is_new: bool) -> None:
        """Queue `enter`, a callback that returns whether a request began. Call it in a later round.

        For a caller that got False from `is_open`. `is_new`: the connection had no request yet.
        """
        (self._first_calls if is_new else self._repeat_calls).append(enter)

    def _enter(self) -> None:
        if not self._is_counting:
            self._is_counting = True
            asyncio.get_running_loop().call_soon(self._next_round)
        self._entered += 1

    def _next_round(self) -> None:
        self._entered, self._is_counting = 0, False
        while (self._first_calls or self._repeat_calls) and self._entered < ENTRIES_PER_ROUND:
            self._enter()
            queues = (
                (self._repeat_calls, self._first_calls)
                if self._entered % 2
                else (self._first_calls, self._repeat_calls)
            )
            enter = (queues[0] or queues[1]).popleft()
            try:
                if not enter():
                    self.return_entry()
            except Exception as problem:  # noqa: BLE001 (the others must enter)
                loop = asyncio.get_running_loop()
                loop.call_exception_handler({"message": "a bug", "exception": problem})


class Slices:
    """The work of one socket, an iterator of steps: one slice at once, the rest in the rounds."""

    __slots__ = ("_is_paused", "_is_queued", "_rounds", "_work")

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self._work: Iterator[None] | None = None
        self._is_paused = self._is_queued = False

    @property
    def has_work(self) -> bool:
        return self._work is not None

    def begin(self, work: Iterator[None]) -> None:
        """Start this work and run its first slice. Call it only if `has_work` is False."""
        self._work = work
        if self._rounds.first_slice(self._run_slice):
            self._enqueue()

    def set_paused(self, *, is_paused: bool) -> None:
        """Pause the work, or resume it."""
        self._is_paused = is_paused
        if not is_paused:
            self._enqueue()

    def run_out(self, steps: int) -> None:
        """Run at most so many steps of the work now, also while it is paused."""
        for _ in range(steps):
            if (work := self._work) is None:
                return
            try:
                next(work)
            except StopIteration:
                self._work = None

    def drop(self) -> None:
        """Forget the work that is not done."""
        self._work = None

    def _enqueue(self) -> None:
        if self._work is not None and not self._is_queued and not self._is_paused:
            self._is_queued = True
            self._rounds.add(self._run_queued_slice)

    def _run_queued_slice(self) -> bool:
        self._is_queued = False
        self._is_queued = self._run_slice(time.perf_counter() + SLICE_S)
        return self._is_queued

    def _run_slice(self, until: float) -> bool:
        """Run steps until this time. True: there is more, and the work is not paused."""
        try:
            while (work := self._work) is not None and not self._is_paused:
                next(work)
                if time.perf_counter() >= until:
                    break
        except StopIteration:
            self._work = None
            return False
        except BaseException:
            self._work = None
            raise
        return self._work is not None and not self._is_paused


async def run_in_slices(rounds: Rounds, steps: Generator[None, None, Result]) -> Result:
    """Run these steps: one slice at once, the rest in the rounds. Return their result.

    An exception of a step is raised here. A cancellation closes the generator of the steps.
    """
    results: list[Result] = []

    def work(until: float) -> bool:
        try:
            while True:
                next(steps)
                if time.perf_counter() >= until:
                    return True
        except StopIteration as end:
            results.append(end.value)
            return False

    try:
        is_more = rounds.first_slice(work)
        while is_more:
            await rounds.wait_for_slice()
            is_more = work(time.perf_counter() + SLICE_S)
        return results.pop()
    finally:
        steps.close()
