"""A thread with a connection of its own. It takes whole transactions, as many as wait.

A caller that is cancelled leaves its transaction to the thread.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

from turnwire_agent.journal.port import UnavailableError
from turnwire_agent.journal.sql.transactions import Begin

T = TypeVar("T")

WAITING_MAX: Final = 10_000
"""Most transactions that wait for the thread."""
TOGETHER_MAX: Final = 256
"""Most transactions of one commit: other processes wait as long as it takes."""


class Job(Generic[T]):
    """A transaction and how it ended.

    Args:
        begin: Makes its transaction. One that was undone is begun again.
        future: Of its caller.
        then: Called in the event loop with the result, also if the caller is gone.

    """

    def __init__(
        self,
        begin: Begin[T],
        future: asyncio.Future[T],
        then: Callable[[T], None] | None,
    ) -> None:
        self.begin = begin
        self._future = future
        self._then = then
        self._result: T
        self._error: Exception | None = None

    @property
    def failed(self) -> bool:
        return self._error is not None

    def succeed(self, result: T) -> None:
        """Note its result, even if it had failed before: it was begun again."""
        self._result = result
        self._error = None

    def fail(self, error: Exception) -> None:
        """Note that it is undone, even if it had succeeded before."""
        self._error = error

    def deliver(self) -> None:
        """Hand the outcome over, in the event loop."""
        if self._error is None:
            if self._then is not None:
                self._then(self._result)
            if not self._future.done():
                self._future.set_result(self._result)
        elif not self._future.done():
            self._future.set_exception(self._error)


Waiting = Callable[[], Sequence[Job[Any]]]
"""Takes what waits out of the queue."""
Work = Callable[[sqlite3.Connection, Job[Any], Waiting], Sequence[Job[Any]]]
"""Runs a job and what it takes of those that wait; returns them, each with its outcome."""


class DatabaseThread:
    """The thread. `start` begins it, and `aclose` ends it after the jobs that wait."""

    def __init__(self, name: str, connect: Callable[[], sqlite3.Connection], work: Work) -> None:
        self._connect = connect
        self._work = work
        self._queue: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        # A daemon: a program that ends without `aclose` does not hang. SQLite undoes what it began.
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._opened: asyncio.Future[None]
        self._ended: asyncio.Future[None]
        self._open = False

    async def start(self) -> None:
        """Begin, and open the connection. What that raises is raised here."""
        self._loop = asyncio.get_running_loop()
        self._opened = self._loop.create_future()
        self._ended = self._loop.create_future()
        self._thread.start()
        try:
            await self._opened
        except asyncio.CancelledError:
            self._queue.put(None)
            raise
        self._open = True

    async def aclose(self) -> None:
        if self._open:
            self._open = False
            self._queue.put(None)
            await asyncio.shield(self._ended)

    def submit(self, begin: Begin[T], then: Callable[[T], None] | None = None) -> asyncio.Future[T]:
        """Queue a transaction; return its outcome to come."""
        if not self._open:
            raise UnavailableError("The journal is closed.")
        if self._queue.qsize() >= WAITING_MAX:
            raise UnavailableError("Too many transactions wait for the journal.")
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.put(Job(begin, future, then))
        return future

    def _main(self) -> None:
        try:
            database = self._connect()
        except Exception as error:  # noqa: BLE001 (`start` raises it)
            self._post(partial(self._refused, error))
            return
        self._post(partial(_settle, self._opened))
        while (job := self._queue.get()) is not None:
            self._post(partial(_deliver, self._work(database, job, self._waiting)))
        database.close()
        self._post(partial(_settle, self._ended))

    def _waiting(self) -> Sequence[Job[Any]]:
        jobs: list[Job[Any]] = []
        while len(jobs) < TOGETHER_MAX:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._queue.put(None)  # nothing is queued behind it
                break
            jobs.append(job)
        return jobs

    def _refused(self, error: Exception) -> None:
        if not self._opened.done():
            self._opened.set_exception(error)

    def _post(self, call: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:  # the event loop is closed: nobody waits any more
            return


def _deliver(jobs: Sequence[Job[Any]]) -> None:
    for job in jobs:
        job.deliver()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
