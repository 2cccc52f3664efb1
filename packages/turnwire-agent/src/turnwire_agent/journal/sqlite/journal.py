"""The journal in a SQLite file, for all processes of one machine.

Writes go to one thread, which commits all that wait together; reads go to another. So a commit
costs one wait for the disk, however many sessions write.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

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
from turnwire_agent.journal.sql import transactions
from turnwire_agent.journal.sql.transactions import KnownCommandError, Query, Transaction
from turnwire_agent.journal.sqlite.file import JournalFile, Synchronous
from turnwire_agent.journal.sqlite.thread import DatabaseThread
from turnwire_agent.journal.sqlite.work import Work

_POSITIONS: Final = """
select id, head, arrivals from journal_session
where id in (select value from json_each(:sessions))
"""
"""One statement: the thread that writes is another connection, so they are asked for often."""


class SqliteJournal:
    """The journal. One event loop uses it.

    Args:
        path: The file, on a local disk. It is made if it is not there; its folder is not.
        synchronous: `full`: what is committed survives a loss of power. `normal`: it survives the
            end of any process, and a commit costs a hundredth.
        busy_s: How long a transaction waits for those of other processes.
        clock: Seconds since 1970, the same for all processes.

    """

    def __init__(
        self,
        path: Path,
        *,
        synchronous: Synchronous = "full",
        busy_s: float = 5.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        file = JournalFile(path, synchronous, busy_s)
        work = Work(file, clock)
        self._writer = DatabaseThread("journal-writer", file.open, work.commit)
        self._reader = DatabaseThread("journal-reader", file.open, work.read)
        self._followers = Followers()
        self._poller = Poller(self._followers, self._positions)
        self._polling: asyncio.Task[None] | None = None
        self._version = 0

    async def start(self) -> None:
        await self._writer.start()
        try:
            await self._reader.start()
        except BaseException:
            await self._writer.aclose()
            raise
        self._polling = asyncio.create_task(self._poller.run())

    async def aclose(self) -> None:
        self._followers.close()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.wait([self._polling])
        await self._reader.aclose()
        await self._writer.aclose()

    async def read(
        self, session: str, *, after: int = 0, details: bool = False, limit: int = 1_000
    ) -> Sequence[Row]:
        checked(session)
        return await self._reader.submit(
            partial(transactions.read, session, after=after, details=details, limit=limit)
        )

    async def put(self, session: str, command: Command) -> bool:
        checked(session, command.id)
        try:
            await self._writer.submit(
                partial(transactions.put, session, command),
                lambda number: self._poller.advance(session, arrivals=number),
            )
        except KnownCommandError:
            return False
        return True

    async def commands(self, session: str, *, limit: int = COMMANDS_MAX) -> Sequence[Command]:
        checked(session)
        return await self._reader.submit(partial(transactions.commands, session, limit))

    async def claim(self, session: str, owner: str, lease_s: float) -> Lease | None:
        checked(session, owner)
        return await self._writer.submit(partial(transactions.claim, session, owner, lease_s))

    async def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        checked(owner)
        return await self._writer.submit(partial(transactions.renew, owner, lease_s))

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
        return await self._writer.submit(
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
            lambda appended: self._advance(lease, appended),
        )

    async def effect(self, key: str) -> Effect | None:
        checked(key)
        return await self._reader.submit(partial(transactions.effect, key))

    async def due(self, limit: int = 100) -> Sequence[str]:
        return await self._reader.submit(partial(transactions.due, limit))

    async def sessions(self, *, after: str = "", limit: int = 100) -> Sequence[str]:
        return await self._reader.submit(partial(transactions.sessions, after=after, limit=limit))

    def follow(self, session: str, owner: str = "") -> AsyncGenerator[Change, None]:
        checked(session)
        return self._followers.follow(session, owner)

    def _advance(self, lease: Lease, appended: Appended) -> None:
        self._poller.advance(lease.session, head=appended.head, by=lease.owner)

    async def _positions(self, followed: Sequence[str]) -> Sequence[Position] | None:
        version, found = await self._reader.submit(partial(_moved, self._version, followed))
        # Who began to follow meanwhile was not asked for, and what is new since then is not known.
        if set(self._followers.sessions()) <= set(followed):
            self._version = version
        return found


def _moved(
    version: int, followed: Sequence[str]
) -> Transaction[tuple[int, Sequence[Position] | None]]:
    """Ask for positions if another connection has written since the file had that version."""
    (((found,),),) = yield [Query("pragma data_version", {})]
    if found == version:
        return version, None
    (positions,) = yield [Query(_POSITIONS, {"sessions": json.dumps(followed)})]
    return found, [(session, head, arrivals) for session, head, arrivals in positions]
