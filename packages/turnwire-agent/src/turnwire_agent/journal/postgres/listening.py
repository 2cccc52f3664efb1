"""What other processes say that they changed: one connection that listens."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection

from turnwire_agent.journal.followers import Followers
from turnwire_agent.journal.port import UnavailableError
from turnwire_agent.journal.postgres.connection import Address
from turnwire_agent.journal.sql.transactions import Query

CHANNEL: Final = "turnwire_journal"
AGAIN_S: Final = 0.5
"""Seconds between two attempts to listen."""
QUIET_S: Final = 5.0
"""Seconds without a notification after which the connection is tried."""

ROWS: Final = "r"
COMMANDS: Final = "c"


def notification(what: str, session: str) -> Query:
    """Return the statement that says, with the commit, what of a session has changed."""
    return Query(
        "select pg_notify(:channel, :payload)", {"channel": CHANNEL, "payload": what + session}
    )


class Listener:
    """Wakes followers by notifications.

    Args:
        address: Of the database.
        followers: Whom it wakes.
        own: The server's processes for this process: their changes are known already.

    """

    def __init__(
        self, address: Address, followers: Followers, own: Callable[[], frozenset[int]]
    ) -> None:
        self._address = address
        self._followers = followers
        self._own = own
        self.listening = False
        """Whether changes are heard of. Else somebody must look."""

    async def run(self) -> None:
        """Listen, and again when the connection breaks, until it is cancelled."""
        while True:
            with suppress(psycopg.Error, OSError, UnavailableError):
                connection = await self._address.connect()
                try:
                    await self._listen(connection)
                finally:
                    self.listening = False
                    await connection.close()
            await asyncio.sleep(AGAIN_S)

    async def _listen(self, connection: AsyncConnection[Any]) -> None:
        async with self._address.in_time(connection):
            await connection.execute(f"listen {CHANNEL}".encode())
        self.listening = True
        self._followers.wake_all()  # nobody knows what was missed
        while True:
            async for each in connection.notifies(timeout=QUIET_S):
                if each.pid not in self._own():
                    what, session = each.payload[:1], each.payload[1:]
                    self._followers.wake(session, rows=what == ROWS, commands=what == COMMANDS)
            async with self._address.in_time(connection):
                await connection.execute("select 1")
