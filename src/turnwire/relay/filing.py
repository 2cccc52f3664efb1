"""Files that are written beside the streams: in one thread, in order, and never waited for."""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Final

JOBS_MAX: Final = 16
"""Files that wait to be written. Past it none is taken."""

CLOSE_S: Final = 2.0
"""How long the end of the process waits for what is not written yet."""

Job = Callable[[], None]
"""Must not raise."""


class Filing:
    """Does jobs in a thread of its own, which begins with the first of them.

    A disk that hangs holds up nobody: the thread does not keep the process from ending.
    """

    def __init__(self) -> None:
        self._jobs: queue.Queue[Job] = queue.Queue(JOBS_MAX)
        self._thread: threading.Thread | None = None

    def take(self, job: Job) -> bool:
        """Do this when its turn comes. False: too many wait already, and it is not done."""
        try:
            self._begin()
            self._jobs.put_nowait(job)
        except (queue.Full, RuntimeError):  # the latter: the system has no thread left
            return False
        return True

    async def aclose(self, within_s: float = CLOSE_S) -> None:
        """Wait until all is done that was taken, for a while."""
        if self._thread is None:
            return
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        if self.take(lambda: _tell(loop, done)):
            try:
                async with asyncio.timeout(within_s):
                    await done.wait()
            except TimeoutError:
                return

    def _begin(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="turnwire-files", daemon=True)
            thread.start()
            self._thread = thread

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def _tell(loop: asyncio.AbstractEventLoop, done: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(done.set)
