"""What the two threads do with transactions: commit them together, or read."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from turnwire_agent.journal.port import NewerSchemaError, UnavailableError
from turnwire_agent.journal.sql.transactions import Transaction
from turnwire_agent.journal.sqlite import schema
from turnwire_agent.journal.sqlite.file import JournalFile
from turnwire_agent.journal.sqlite.thread import Job, Waiting

T = TypeVar("T")

CROWD: Final = 4
"""Transactions of one commit from which on the next commit waits for more."""
GATHERING_S: Final = 0.001
"""How long. A commit costs as much as five more transactions in it."""


class Work:
    """Runs jobs on the connection of a thread.

    Args:
        file: What the connection is to.
        clock: Seconds since 1970, the same for all processes of the machine.

    """

    def __init__(self, file: JournalFile, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._clock = clock
        self._crowded = False

    def commit(
        self, database: sqlite3.Connection, first: Job[Any], waiting: Waiting
    ) -> Sequence[Job[Any]]:
        """Run jobs in one transaction. One that fails is undone alone."""
        if self._crowded:
            time.sleep(GATHERING_S)
        try:
            database.execute("begin immediate")
        except sqlite3.Error as error:
            # All that is queued by now has waited for the same lock.
            return self._undone(database, [first, *waiting()], error)
        jobs = [first, *waiting()]
        self._crowded = len(jobs) >= CROWD
        try:
            self._check(database)
            if len(jobs) == 1:
                self._run_alone(database, first)
                return jobs
            # A savepoint for each would be half of the statements, and nearly none is undone.
            if not self._run_together(database, jobs):
                database.execute("rollback")
                database.execute("begin immediate")  # others may have written in between
                self._check(database)
                for job in jobs:
                    self._run_one(database, job)
            database.execute("commit")
        except (sqlite3.Error, NewerSchemaError, UnavailableError) as error:
            return self._undone(database, jobs, error)
        return jobs

    def read(
        self, database: sqlite3.Connection, first: Job[Any], waiting: Waiting
    ) -> Sequence[Job[Any]]:
        """Run jobs that change nothing. Each sees one state of the whole journal."""
        jobs = [first, *waiting()]
        for job in jobs:
            try:
                database.execute("begin")
                self._check(database)
                job.succeed(self._result(database, job.begin()))
                database.execute("commit")
            except Exception as error:  # noqa: BLE001 (whatever it is; the others go on)
                self._undone(database, [job], error)
        return jobs

    def _run_alone(self, database: sqlite3.Connection, job: Job[Any]) -> None:
        """Run the only job of a transaction: to undo it is to undo all."""
        try:
            job.succeed(self._result(database, job.begin()))
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 (whatever it decides)
            job.fail(error)
        database.execute("rollback" if job.failed else "commit")

    def _run_together(self, database: sqlite3.Connection, jobs: Sequence[Job[Any]]) -> bool:
        """Run jobs. False: one failed when it had changed something, so all must be undone."""
        for job in jobs:
            before = database.total_changes
            try:
                job.succeed(self._result(database, job.begin()))
            except Exception as error:
                if not database.in_transaction:
                    # SQLite has undone them all, as it does when the disk is full.
                    raise self._file.unavailable(error) from error
                if database.total_changes != before:
                    return False
                job.fail(self._own(error))
        return True

    def _run_one(self, database: sqlite3.Connection, job: Job[Any]) -> None:
        database.execute("savepoint one")
        try:
            job.succeed(self._result(database, job.begin()))
        except sqlite3.Error as error:
            if not database.in_transaction:
                raise  # SQLite has undone them all, as it does when the disk is full
            job.fail(self._own(error))
        except Exception as error:  # noqa: BLE001 (whatever it decides; the others go on)
            job.fail(error)
        if job.failed:
            database.execute("rollback to one")
        database.execute("release one")

    def _result(self, database: sqlite3.Connection, transaction: Transaction[T]) -> T:
        now = self._clock()
        try:
            queries = next(transaction)
            while True:
                queries = transaction.send(
                    [
                        database.execute(
                            query.statement, {**query.parameters, "now": now}
                        ).fetchall()
                        for query in queries
                    ]
                )
        except StopIteration as ended:
            result: T = ended.value
            return result

    def _own(self, error: Exception) -> Exception:
        """What its caller gets for it."""
        return self._file.unavailable(error) if isinstance(error, sqlite3.Error) else error

    def _check(self, database: sqlite3.Connection) -> None:
        schema.check(database)
        self._file.check()

    def _undone(
        self, database: sqlite3.Connection, jobs: Sequence[Job[Any]], error: Exception
    ) -> Sequence[Job[Any]]:
        """Undo what is left of the transaction. Each caller gets an exception of its own."""
        with suppress(sqlite3.Error):
            if database.in_transaction:
                database.execute("rollback")
        for job in jobs:
            own = self._own(error)
            job.fail(type(own)(*own.args) if len(jobs) > 1 else own)
        return jobs
