"""Write files in one background thread, in order, so that no stream waits for a disk."""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Final

JOBS_MAX: Final = 16
"""Most jobs that wait. Further jobs are refused."""

CLOSE_S: Final = 2.0
"""How long, in seconds, the end of the process waits for the jobs that are not done."""

Job = Callable[[], None]
"""Must not raise."""


class FileWriter:
    """Runs jobs in its own thread, which starts with the first job.

    The thread is a daemon: a disk that hangs does not keep the process from ending.
    """

    def __init__(self) -> None:
        self._jobs: queue.Queue[Job] = queue.Queue(JOBS_MAX)
        self._thread: threading.Thread | None = None

    def submit(self, job: Job) -> bool:
        """Queue the job. False: the queue is full or no thread can start; the job is dropped."""
        try:
            self._start_thread()
            self._jobs.put_nowait(job)
        except (queue.Full, RuntimeError):  # RuntimeError: the system has no thread left
            return False
        return True

    async def aclose(self, timeout_s: float = CLOSE_S) -> None:
        """Wait until all submitted jobs are done, for `timeout_s` seconds at most."""
        if self._thread is None:
            return
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        if self.submit(lambda: _set_event(loop, done)):
            try:
                async with asyncio.timeout(timeout_s):
                    await done.wait()
            except TimeoutError:
                return

    def _start_thread(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._run_jobs, name="turnwire-files", daemon=True)
            thread.start()
            self._thread = thread

    def _run_jobs(self) -> None:
        while True:
            self._jobs.get()()


def _set_event(loop: asyncio.AbstractEventLoop, done: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(done.set)
