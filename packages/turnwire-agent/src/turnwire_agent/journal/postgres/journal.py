"""The journal in Postgres, for replicas on several machines. Times are by the server's clock."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from functools import partial

import psycopg

from turnwire_agent.journal.followers import Followers
from turnwire_agent.journal.ids import checked
from turnwire_agent.journal.polling import Poller, Position
from turnwire_agent.journal.port import (
    COMMANDS_MAX,
    Appended,
    Change,
    Command,
    Effect,
    Lease,
    Row,
)
from turnwire_agent.journal.postgres import one_statement, schema
from turnwire_agent.journal.postgres.connection import Address, unavailable, unreachable
from turnwire_agent.journal.postgres.lanes import Lanes
from turnwire_agent.journal.postgres.listening import COMMANDS, ROWS, Listener, notification
from turnwire_agent.journal.sql import transactions
from turnwire_agent.journal.sql.transactions import KnownCommandError


class PostgresJournal:
    """The journal. One event loop uses it.

    Args:
        conninfo: A URL, or what libpq takes else.
        connections: Most connections; one more listens.
        timeout_s: Most seconds of a transaction, and of opening a connection.

    """

    def __init__(self, conninfo: str, *, connections: int = 8, timeout_s: float = 5.0) -> None:
        self._address = Address(conninfo, timeout_s)
        self._connections = connections
        self._followers = Followers()
        self._poller = Poller(self._followers, self._positions)
        self._lanes: Lanes
        self._listener: Listener
        self._background: list[asyncio.Task[None]] = []

    def __repr__(self) -> str:
        return "PostgresJournal()"  # its address may hold a password

    async def start(self) -> None:
        try:
            connection = await self._address.connect()
        except psycopg.Error as error:
            raise unreachable(error) from None
        try:
            try:
                async with self._address.in_time(connection):
                    await schema.make(connection)
            finally:
                await connection.close()
        except psycopg.Error as error:
            raise unavailable(error) from None
        self._lanes = Lanes(self._address, self._connections)
        self._listener = Listener(self._address, self._followers, self._lanes.backends)
        self._background = [
            asyncio.create_task(self._listener.run()),
            asyncio.create_task(self._poller.run()),
        ]

    async def aclose(self) -> None:
        self._followers.close()
        if self._background:
            for task in self._background:
                task.cancel()
            await asyncio.wait(self._background)
            await self._lanes.aclose()

    async def read(
        self, session: str, *, after: int = 0, details: bool = False, limit: int = 1_000
    ) -> Sequence[Row]:
        checked(session)
        return await self._lanes.submit(
            session,
            partial(transactions.read, session, after=after, details=details, limit=limit),
            alone=True,
            repeatable=True,
        )

    async def put(self, session: str, command: Command) -> bool:
        checked(session, command.id)
        try:
            await self._lanes.submit(
                session,
                partial(transactions.put, session, command),
                then=lambda number: self._poller.advance(session, arrivals=number),
                last=lambda _: notification(COMMANDS, session),
            )
        except KnownCommandError:
            return False
        return True

    async def commands(self, session: str, *, limit: int = COMMANDS_MAX) -> Sequence[Command]:
        checked(session)
        return await self._lanes.submit(
            session, partial(transactions.commands, session, limit), alone=True, repeatable=True
        )

    async def claim(self, session: str, owner: str, lease_s: float) -> Lease | None:
        checked(session, owner)
        return await self._lanes.submit(
            session,
            partial(transactions.claim, session, owner, lease_s),
            alone=True,
            repeatable=True,
        )

    async def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        checked(owner)
        return await self._lanes.submit(
            None, partial(transactions.renew, owner, lease_s), alone=True, repeatable=True
        )

    async def append(
        self,
        lease: Lease,
        rows: Sequence[Row],
        *,
        take: Sequence[str] = (),
        effects: Sequence[Effect] = (),
        settle: bool = False,
        release: bool = False,
        wake_at: float | None = None,
    ) -> Appended:
        checked(lease.session, *take, *(each.key for each in effects))
        if not (take or effects or release):
            return await self._lanes.submit(
                lease.session,
                partial(
                    one_statement.append,
                    lease,
                    rows,
                    settle=settle,
                    notification=notification(ROWS, lease.session),
                ),
                then=lambda appended: self._advance(lease, appended),
                alone=True,
            )
        return await self._lanes.submit(
            lease.session,
            partial(
                transactions.append,
                lease,
                rows,
                take=take,
                effects=effects,
                settle=settle,
                release=release,
                wake_at=wake_at,
            ),
            then=lambda appended: self._advance(lease, appended),
            last=lambda _: notification(ROWS, lease.session),
        )

    async def effect(self, key: str) -> Effect | None:
        checked(key)
        return await self._lanes.submit(
            None, partial(transactions.effect, key), alone=True, repeatable=True
        )

    async def due(self, limit: int = 100) -> Sequence[str]:
        return await self._lanes.submit(
            None, partial(transactions.due, limit), alone=True, repeatable=True
        )

    async def sessions(self, *, after: str = "", limit: int = 100) -> Sequence[str]:
        return await self._lanes.submit(
            None,
            partial(transactions.sessions, after=after, limit=limit),
            alone=True,
            repeatable=True,
        )

    def follow(self, session: str, owner: str = "") -> AsyncGenerator[Change, None]:
        checked(session)
        return self._followers.follow(session, owner)

    def _advance(self, lease: Lease, appended: Appended) -> None:
        self._poller.advance(lease.session, head=appended.head, by=lease.owner)

    async def _positions(self, followed: Sequence[str]) -> Sequence[Position] | None:
        """Look only while no notification comes."""
        if self._listener.listening:
            return None
        # All of them in one round trip, as in any transaction.
        return await self._lanes.submit(None, partial(transactions.positions, followed))
