"""The file of a journal: how it is opened, and what its errors mean."""

import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from turnwire_agent.journal.port import UnavailableError
from turnwire_agent.journal.sqlite import schema
from turnwire_agent.private_file import make_private

Synchronous = Literal["full", "normal"]

WAL_BYTES_KEPT: Final = 64 * 2**20
"""The write-ahead log shrinks to this once what is in it has been carried over."""

CACHE_KIB: Final = 512
"""Of the pages that each connection keeps. The system has the file in its memory as well."""

_Inode = tuple[int, int]
"""The device and the number of a file."""


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
        self._log = Path(f"{os.path.realpath(path)}-wal")
        self._inodes: Sequence[_Inode | None] = ()

    def open(self) -> sqlite3.Connection:
        """Open the file; make it, and its tables, if need be. Any thread may use the connection.

        Raises:
            NewerSchemaError: a newer program made the tables.
            UnavailableError: it cannot be opened.

        """
        try:
            make_private(self._path)
        except OSError as error:
            raise UnavailableError(
                f"The journal {self._path} cannot be opened: {error.strerror}."
            ) from None
        try:
            database = sqlite3.connect(
                self._path, timeout=self._busy_s, isolation_level=None, check_same_thread=False
            )
            try:
                found = _inode(self._path)
                self._set_up(database)
                self._inodes = (found, _inode(self._log))
            except BaseException:
                database.close()
                raise
        except sqlite3.Error as error:
            raise self.unavailable(error) from None
        return database

    def check(self) -> None:
        """Look whether the paths are still those files: SQLite would go on writing to deleted ones.

        Raises:
            UnavailableError: one was deleted, or another is in its place.

        """
        if (_inode(self._path), _inode(self._log)) != self._inodes:
            raise UnavailableError(f"The journal {self._path} or its -wal was deleted or replaced.")

    def unavailable(self, error: Exception) -> UnavailableError:
        """Say what happened, without any content. SQLite's own text may quote a statement."""
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        return UnavailableError(f"The journal {self._path} cannot be used ({name}).")

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


def _inode(path: Path) -> _Inode | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
