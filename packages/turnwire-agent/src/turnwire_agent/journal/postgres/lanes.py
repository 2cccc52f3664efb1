"""A bounded number of connections, each with its queue of transactions.

All transactions of one session go through one lane, in the order of the calls. A caller that is
cancelled leaves its transaction to the lane, so that no cancellation falls into it.
"""

import asyncio
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Generic, TypeVar

import psycopg
from msgspec import Struct
from psycopg import AsyncConnection, AsyncCursor
from psycopg.errors import QueryCanceled

from turnwire_agent.journal.port import NewerSchemaError, UnavailableError
from turnwire_agent.journal.postgres import schema
from turnwire_agent.journal.postgres.connection import Address, unavailable
from turnwire_agent.journal.sql.transactions import Begin, Query, Rows

T = TypeVar("T")

WAITING_MAX: Final = 1_000
"""Most transactions that wait for one lane."""

CLOCK: Final = "extract(epoch from clock_timestamp())::float8"


class Job(Struct, Generic[T]):
    """A transaction, whose caller waits for it, or is gone."""

    begin: Begin[T]
    future: asyncio.Future[T]
    then: Callable[[T], None] | None
    """Called with the result once it is committed, also if the caller is gone."""
    last: Callable[[T], Query] | None
    """A statement that ends the transaction, such as a notification."""
    alone: bool
    """It is one statement, and needs no `begin` and `commit`."""
    repeatable: bool
    """It may be done twice: it reads, or claims anew."""


class Lane:
    """One connection, opened when it is needed, and again when it broke."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._queue: asyncio.Queue[Job[Any] | None] = asyncio.Queue()
        self._connection: AsyncConnection[Any] | None = None
        self._committing = False
        self._task = asyncio.create_task(self._work())
        self._open = True

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    @property
    def backend(self) -> int:
        """The number of the server's process for it; 0: none."""
        return 0 if self._connection is None else self._connection.info.backend_pid

    def put(self, job: Job[Any]) -> None:
        if self._queue.qsize() >= WAITING_MAX:
            raise UnavailableError("Too many transactions wait for the journal.")
        self._queue.put_nowait(job)

    async def aclose(self) -> None:
        """Finish what waits, and close."""
        if self._open:
            self._open = False
            self._queue.put_nowait(None)
        await asyncio.shield(self._task)

    async def _work(self) -> None:
        while (job := await self._queue.get()) is not None:
            try:
                result = await self._run(job)
            except psycopg.Error as error:
                _fail(job, unavailable(error))
            except Exception as error:  # noqa: BLE001 (whatever it decides; the others go on)
                _fail(job, error)
            else:
                _succeed(job, result)
        await self._drop()

    async def _run(self, job: Job[T]) -> T:
        """Run it; once more if its connection was found dead before it was to commit."""
        fresh = self._connection is None
        try:
            return await self._attempt(job)
        except psycopg.OperationalError as error:
            if fresh or self._committing or not _gone(error):
                raise
        return await self._attempt(job)

    async def _attempt(self, job: Job[T]) -> T:
        self._committing = False
        try:
            if self._connection is None:
                self._connection = await self._address.connect()
                async with self._address.in_time(self._connection):
                    await schema.check(self._connection)
            async with self._address.in_time(self._connection):
                return await self._run_on(self._connection, job)
        except (psycopg.Error, UnavailableError, NewerSchemaError) as error:
            await self._drop()
            if isinstance(error, QueryCanceled):  # it waited for a lock of somebody
                await self._address.end_stuck()
            raise

    async def _run_on(self, connection: AsyncConnection[Any], job: Job[T]) -> T:
        if job.alone:
            self._committing = not job.repeatable
            return await _result(connection, job)
        # The statements of one step are sent together, and the last ones with the commit.
        async with connection.pipeline(), connection.transaction():
            result = await _result(connection, job)
            if job.last is not None:
                await _send(connection, job.last(result))
            self._committing = True
        return result

    async def _drop(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()


async def _result(connection: AsyncConnection[Any], job: Job[T]) -> T:
    transaction = job.begin()
    try:
        queries = next(transaction)
        while True:
            cursors = [await _send(connection, query) for query in queries]
            answers: list[Rows] = [
                await cursor.fetchall() if _spoken(query.statement)[1] else ()
                for query, cursor in zip(queries, cursors, strict=True)
            ]
            queries = transaction.send(answers)
    except StopIteration as ended:
        result: T = ended.value
        return result


async def _send(connection: AsyncConnection[Any], query: Query) -> AsyncCursor[Any]:
    return await connection.execute(_spoken(query.statement)[0], query.parameters, binary=True)


@cache
def _spoken(statement: str) -> tuple[bytes, bool]:
    """Return a statement in the words of psycopg, and whether it returns rows."""
    words = statement.replace(":now", CLOCK)
    text = re.sub(r"(?<!:):(\w+)", r"%(\1)s", words)
    return text.encode(), statement.lstrip().startswith(
        ("select", "with")
    ) or "returning" in statement


def _gone(error: psycopg.OperationalError) -> bool:
    """Whether the connection was lost, or the server is shutting down."""
    return error.sqlstate is None or error.sqlstate.startswith("57P")


def _succeed(job: Job[T], result: T) -> None:
    if job.then is not None:
        job.then(result)
    if not job.future.done():
        job.future.set_result(result)


def _fail(job: Job[Any], error: Exception) -> None:
    if not job.future.done():
        job.future.set_exception(error)


class Lanes:
    """All connections but the one that listens."""

    def __init__(self, address: Address, count: int) -> None:
        self._lanes = [Lane(address) for _ in range(count)]
        self._open = True

    def submit(
        self,
        session: str | None,
        begin: Begin[T],
        *,
        then: Callable[[T], None] | None = None,
        last: Callable[[T], Query] | None = None,
        alone: bool = False,
        repeatable: bool = False,
    ) -> asyncio.Future[T]:
        """Queue a transaction of a session, or of none; return its outcome to come."""
        if not self._open:
            raise UnavailableError("The journal is closed.")
        if session is None:
            lane = min(self._lanes, key=lambda lane: lane.waiting)
        else:
            lane = self._lanes[hash(session) % len(self._lanes)]
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        lane.put(Job(begin, future, then, last, alone, repeatable))
        return future

    def backends(self) -> frozenset[int]:
        """Return the numbers of the server's processes for these connections."""
        return frozenset(lane.backend for lane in self._lanes)

    async def aclose(self) -> None:
        self._open = False
        await asyncio.gather(*(lane.aclose() for lane in self._lanes))
