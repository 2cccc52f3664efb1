"""A connection to Postgres that never waits for ever, and what its errors mean."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from turnwire_agent.journal.port import UnavailableError

APPLICATION: Final = "turnwire-agent"
_LAST_PORT: Final = 65535

_NO_ADDRESS: Final = (
    "this is no address of Postgres, as postgresql://USER@HOST:5432/DATABASE; in a password "
    "@ : / and % are written as %40 %3A %2F and %25"
)
_NO_PORT: Final = "the port of the address of Postgres is no number from 1 to 65535"
_REASONS: Final = (
    ("failed to resolve host", "its host is unknown"),
    ("connection refused", "nothing listens at its host and port"),
    ("no such file or directory", "nothing listens at its host and port"),
    ("timeout", "it does not answer in time"),
    ("password", "it refuses the user or the password"),
    ("authentication", "it refuses the user or the password"),
    ("does not exist", "it has no such database or user"),
    ("read-only", "it takes no writes"),
    ("too many", "it has too many connections"),
    ("ssl", "TLS with it fails"),
)
"""What stands in the error of a connection that was not opened, and what it means."""

END_STUCK: Final = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and usename = current_user
    and application_name = current_setting('application_name') and pid <> pg_backend_pid()
    and wait_event = 'ClientRead'
    and extract(epoch from clock_timestamp() - xact_start) > %(seconds)s
"""


class Address:
    """Where the database is, and how long anything there may take.

    Args:
        conninfo: A URL or what libpq takes else. Its own settings count: TLS, several hosts.
        timeout_s: Most seconds of a transaction, and of opening a connection.

    Raises:
        ValueError: it cannot be parsed. The text has nothing of it: it may hold a password.

    """

    def __init__(self, conninfo: str, timeout_s: float) -> None:
        try:
            self._given = conninfo_to_dict(conninfo)
        except psycopg.ProgrammingError:
            raise ValueError(_NO_ADDRESS) from None
        ports = str(self._given.get("port", "")).split(",")
        if not all(map(_is_port, ports)):
            raise ValueError(_NO_PORT)
        self.timeout_s = timeout_s

    async def connect(self) -> AsyncConnection[Any]:
        """Open a connection on which each statement is a transaction of its own.

        Raises:
            psycopg.Error: it cannot be opened.
            UnavailableError: nobody answers.

        """
        settings: dict[str, Any] = {
            # Of several hosts, the one that takes writes; a standby alone is refused at once.
            "target_session_attrs": "read-write",
            "connect_timeout": max(2, round(self.timeout_s)),
            "application_name": APPLICATION,
            **self._given,
        }
        connection = await AsyncConnection.connect(make_conninfo(**settings), autocommit=True)
        try:
            async with self.in_time(connection):
                await connection.execute(
                    "select set_config('default_transaction_isolation', 'read committed', false), "
                    "set_config('statement_timeout', %(statement)s, false), "
                    # So long a process that was stopped in a transaction holds its locks.
                    "set_config('idle_in_transaction_session_timeout', %(idle)s, false)",
                    {
                        "statement": f"{round(self.timeout_s * 1_000)}ms",
                        "idle": f"{round(self.timeout_s * 500)}ms",
                    },
                )
        except BaseException:
            await connection.close()
            raise
        return connection

    async def end_stuck(self) -> None:
        """End transactions of this program that no living process would leave open so long.

        The server itself ends one that it calls idle. But a process that was stopped before the end
        of a pipeline leaves one that counts as active, and its locks with it.
        """
        try:
            connection = await self.connect()
        except (psycopg.Error, UnavailableError):
            return  # the next one who waits tries it again
        try:
            async with self.in_time(connection):
                await connection.execute(END_STUCK, {"seconds": self.timeout_s / 2})
        except (psycopg.Error, UnavailableError):
            return
        finally:
            await connection.close()

    @asynccontextmanager
    async def in_time(self, connection: AsyncConnection[Any]) -> AsyncGenerator[None, None]:
        """Cut the connection if the server takes longer than it may: it may not be there any more.

        Not a cancellation: psycopg would ask the server to cancel, and wait for it.

        Raises:
            UnavailableError: it was cut.

        """
        cut = asyncio.Event()

        def give_up() -> None:
            cut.set()
            sever(connection)

        timer = asyncio.get_running_loop().call_later(self.timeout_s + 1, give_up)
        try:
            yield
        except psycopg.Error:
            if cut.is_set():
                raise UnavailableError("Postgres does not answer in time.") from None
            raise
        finally:
            timer.cancel()


def sever(connection: AsyncConnection[Any]) -> None:
    """End a connection without waiting for the server. Whoever uses it gets an error at once."""
    with suppress(psycopg.Error, OSError):
        end = socket.socket(fileno=os.dup(connection.pgconn.socket))
        try:
            end.shutdown(socket.SHUT_RDWR)
        finally:
            end.close()


def _is_port(text: str) -> bool:
    """Whether libpq takes it. An empty one is the usual port."""
    if not text:
        return True
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(_LAST_PORT))
    return is_number and 1 <= int(text) <= _LAST_PORT


def unavailable(error: psycopg.Error) -> UnavailableError:
    """Say what happened, without any content: the server's own text may quote a row."""
    code = f", {error.sqlstate}" if error.sqlstate else ""
    return UnavailableError(
        f"The journal in Postgres cannot be used ({type(error).__name__}{code})."
    )


def unreachable(error: psycopg.Error) -> UnavailableError:
    """Say in fixed words why no connection was opened, if that is known."""
    text = str(error).lower()
    for found, reason in _REASONS:
        if not error.sqlstate and found in text:
            return UnavailableError(f"The journal in Postgres cannot be used: {reason}.")
    return unavailable(error)
