"""The file of a journal: how it is opened, and what its errors mean."""

import os
import sqlite3
import time
from pathlib import Path
from typing import Final, Literal

from turnwire_agent.journal.port import UnavailableError
from turnwire_agent.journal.sqlite import schema

Synchronous = Literal["full", "normal"]

WAL_BYTES_KEPT: Final = 64 * 2**20
"""The write-ahead log shrinks to this once what is in it has been carried over."""

CACHE_KIB: Final = 512
"""Of the pages that each connection keeps. The system has the file in its memory as well."""


class JournalFile:
    """Where the journal is, and how careful it is.

    The file is made with mode 0600, since prompts are in it. It belongs on a local disk: SQLite's
    locks do not hold on NFS.

    Args:
        path: The file. Its folder is not made.
        synchronous: See docs/agent-journal.md.
        busy_s: How long a transaction waits for those of other processes.

    """

    def __init__(self, path: Path, synchronous: Synchronous, busy_s: float) -> None:
        self._path = path
        self._synchronous = synchronous
        self._busy_s = busy_s
        self._inode: tuple[int, int] | None = None

    def open(self) -> sqlite3.Connection:
        """Open the file; make it, and its tables, if need be. Any thread may use the connection.

        Raises:
            NewerSchemaError: a newer program made the tables.
            UnavailableError: it cannot be opened.

        """
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise UnavailableError(
                f"The journal {self._path} cannot be opened: {error.strerror}."
            ) from None
        self._inode = self._found()
        try:
            database = sqlite3.connect(
                self._path, timeout=self._busy_s, isolation_level=None, check_same_thread=False
            )
            try:
                self._set_up(database)
            except BaseException:
                database.close()
                raise
        except sqlite3.Error as error:
            raise self.unavailable(error) from None
        return database

    def check(self) -> None:
        """Look whether the path is still that file: SQLite would go on writing to a deleted one.

        Raises:
            UnavailableError: it was deleted, or another is in its place.

        """
        if self._found() != self._inode:
            raise UnavailableError(f"The journal {self._path} was deleted or replaced.")

    def unavailable(self, error: sqlite3.Error) -> UnavailableError:
        """Say what happened, without any content. SQLite's own text may quote a statement."""
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        return UnavailableError(f"The journal {self._path} cannot be used ({name}).")

    def _found(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _set_up(self, database: sqlite3.Connection) -> None:
        self._use_wal(database)
        database.execute(f"pragma synchronous = {self._synchronous}")
        database.execute(f"pragma journal_size_limit = {WAL_BYTES_KEPT}")
        database.execute(f"pragma cache_size = -{CACHE_KIB}")
        schema.make(database)

    def _use_wal(self, database: sqlite3.Connection) -> None:
        """Processes that do this at the same time are refused at once, without `busy_s`."""
        until = time.monotonic() + self._busy_s
        while True:
            try:
                database.execute("pragma journal_mode = wal")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            else:
                return
            time.sleep(0.01)
