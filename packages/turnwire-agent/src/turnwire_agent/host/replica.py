"""One process that serves sessions: which it follows, which it holds, which wait for somebody."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Final, Self
from uuid import uuid4

from turnwire_agent import metrics
from turnwire_agent.host.commands import NewerCommandError, Wanted, command
from turnwire_agent.host.driver import Driver
from turnwire_agent.host.holder import Holder
from turnwire_agent.host.live_session import LiveSession
from turnwire_agent.host.probes import Probes
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.port import (
    Journal,
    Lease,
    LeaseLostError,
    NewerSchemaError,
    UnavailableError,
)
from turnwire_agent.session.codec import BrokenEventError, NewerEventError
from turnwire_agent.tools.run.raised import described
from turnwire_agent.v2.frames import Frames

LOGGER: Final = logging.getLogger("turnwire_agent.host")
RETRY_MAX_S: Final = 10.0
REFUSED_S: Final = 30.0
"""How long a session that this process cannot serve is left to others."""
DUE_MAX: Final = 100
"""Most sessions that one look finds."""


class FullError(Exception):
    """This replica has as many sessions as it may."""


class _Session:
    """What this replica has of one session."""

    def __init__(self, live: LiveSession) -> None:
        self.live = live
        self.users = 0
        """Sockets and tasks that need it."""
        self.holder: Holder | None = None
        self.holding: asyncio.Task[None] | None = None
        self.following: asyncio.Task[None] | None = None
        self.again = False
        """Whether something came while a claim was on its way."""


class Replica:
    """Sessions by id. It is entered and left with `async with`."""

    def __init__(
        self, journal: Journal, driver: Driver, frames: Frames, settings: HostSettings
    ) -> None:
        self.owner = uuid4().hex
        """The name of this process in leases."""
        self.probes = Probes(journal)
        self._journal = journal
        self._driver = driver
        self._frames = frames
        self._settings = settings
        self._sessions: dict[str, _Session] = {}
        self._held = 0
        """How many sessions it holds, or tries to."""
        self._refused: dict[str, float] = {}
        """Sessions that it cannot serve, and until when it leaves them, by `time.monotonic`."""
        self._closing = False
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._journal.start()
        self._tasks = [
            asyncio.create_task(self._renew()),
            asyncio.create_task(self._sweep()),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Give up all leases: other replicas go on with the turns at once."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        holding = [each.holding for each in self._sessions.values() if each.holding]
        for each in self._sessions.values():
            if each.holder:
                each.holder.leave()
        if holding:
            await asyncio.wait(holding, timeout=self._settings.stop_s * 3)
        for each in list(self._sessions.values()):
            for running in (each.holding, each.following):
                if running is not None:
                    running.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._journal.aclose()

    @asynccontextmanager
    async def session(self, session_id: str) -> AsyncIterator[LiveSession]:
        """Follow a session, as long as it is needed. It is up to date when this begins.

        Raises:
            FullError: there are too many.
            UnavailableError: of the store.
            NewerEventError: a newer program has written in this session.

        """
        session = self._sessions.get(session_id)
        if session is None:
            if len(self._sessions) >= self._settings.sessions:
                raise FullError
            live = LiveSession(session_id, self._journal, self._frames, self._settings)
            session = self._sessions[session_id] = _Session(live)
        session.users += 1
        try:
            await session.live.catch_up()
            self._follow_from_now(session)
            yield session.live
        finally:
            session.users -= 1
            self._forget(session)

    async def is_of(self, session_id: str, user_id: str | None) -> bool:
        """Whether a session is this user's, or may become it.

        Raises:
            FullError: there are too many.
            UnavailableError: of the store.
            NewerEventError: a newer program has written in this session.

        """
        async with self.session(session_id) as live:
            return live.state.is_of(user_id)

    async def put(self, session_id: str, id_: str, wanted: Wanted) -> None:
        """Ask a session for something. It is committed when this returns.

        Raises:
            TooManyCommandsError: the session has too many.
            UnavailableError: of the store. Whether it was asked is not known.

        """
        await self._journal.put(session_id, command(id_, wanted))
        self._consider(session_id)

    def _consider(self, session_id: str) -> None:
        """Something may be to be done in a session: wake its holder, or become it."""
        session = self._sessions.get(session_id)
        if session is None:
            if len(self._sessions) >= self._settings.sessions:
                return  # it is due, and looked for again
            live = LiveSession(session_id, self._journal, self._frames, self._settings)
            session = self._sessions[session_id] = _Session(live)
        if session.holder is not None:
            session.holder.wake()
        elif session.holding is not None:
            session.again = True
        elif (
            not self._closing
            and self._held < self._settings.turns
            and self._refused.get(session_id, 0.0) <= time.monotonic()
        ):
            session.users += 1
            self._held += 1
            session.holding = asyncio.create_task(self._hold(session))
        else:
            self._forget(session)

    async def _hold(self, session: _Session) -> None:
        """Claim a session, and work until nothing is left to do or somebody else has it."""
        delay = self._settings.retry_s
        try:
            while not self._closing:
                session.again = False
                try:
                    if not await self._hold_once(session):
                        return
                    delay = self._settings.retry_s
                except (LeaseLostError, UnavailableError) as error:
                    # The lease may still be ours, and is prolonged with the others: so it must be
                    # claimed again, or given up.
                    if isinstance(error, UnavailableError):
                        metrics.JOURNAL_ERRORS.inc()
                    LOGGER.warning("session: session=%s outcome=retry: %s", session.live.id, error)
                    await asyncio.sleep(delay)
                    delay = min(2 * delay, RETRY_MAX_S)
        except (BrokenEventError, NewerEventError, NewerCommandError) as error:
            self._refuse(session.live.id)
            LOGGER.critical("session: session=%s outcome=refused: %s", session.live.id, error)
        except Exception as error:  # noqa: BLE001 - a fault of ours, whose text may be a prompt
            self._refuse(session.live.id)
            LOGGER.critical(
                "session: session=%s outcome=raised %s", session.live.id, described(error)
            )
        finally:
            session.holding = None
            self._held -= 1
            session.users -= 1
            self._forget(session)

    async def _hold_once(self, session: _Session) -> bool:
        """Returns whether something may be left to do."""
        id_ = session.live.id
        lease = await self._journal.claim(id_, self.owner, self._settings.lease_s)
        if lease is None:
            return False
        session.holder = Holder(
            session.live,
            lease,
            journal=self._journal,
            driver=self._driver,
            settings=self._settings,
        )
        # A session that was found by looking may have its sockets elsewhere: they stop it, too.
        self._follow_from_now(session)
        try:
            with metrics.SESSIONS_HELD.track_inprogress():
                await session.holder.run()
        except (LeaseLostError, UnavailableError):
            raise
        except Exception:
            await self._give_back(lease)
            raise
        finally:
            session.holder = None
        return session.again or bool(await self._journal.commands(id_, limit=1))

    async def _give_back(self, lease: Lease) -> None:
        """Leave a session to others: a lease that nobody gives up is prolonged with the rest."""
        with suppress(LeaseLostError, UnavailableError):
            await self._journal.append(lease, [], release=True)

    def _refuse(self, session_id: str) -> None:
        now = time.monotonic()
        refused = {id_: until for id_, until in self._refused.items() if until > now}
        if len(refused) >= self._settings.sessions:
            del refused[next(iter(refused))]
        self._refused = {**refused, session_id: now + REFUSED_S}

    def _follow_from_now(self, session: _Session) -> None:
        if session.following is None:
            session.following = asyncio.create_task(self._follow(session))

    async def _follow(self, session: _Session) -> None:
        """Read what others write, for those who follow."""
        async with aclosing(self._journal.follow(session.live.id, self.owner)) as changes:
            async for change in changes:
                if session.holder is not None:
                    if change.commands:
                        session.holder.wake()
                    continue
                try:
                    await self._catch_up(session)
                except (BrokenEventError, NewerEventError) as error:
                    LOGGER.critical(
                        "session: session=%s outcome=refused: %s", session.live.id, error
                    )
                    session.live.hang_up()
                    return

    async def _catch_up(self, session: _Session) -> None:
        """Read until it works: nothing may come that says that there is something to read."""
        delay = self._settings.retry_s
        while session.holder is None:
            try:
                await session.live.catch_up()
            except UnavailableError as error:
                metrics.JOURNAL_ERRORS.inc()
                LOGGER.warning("session: session=%s: %s", session.live.id, error)
                await asyncio.sleep(delay)
                delay = min(2 * delay, RETRY_MAX_S)
            else:
                return

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            holding = {id_: each.holder for id_, each in self._sessions.items() if each.holder}
            try:
                ours = await self._journal.renew(self.owner, self._settings.lease_s)
            except (UnavailableError, NewerSchemaError) as error:
                metrics.JOURNAL_ERRORS.inc()
                LOGGER.warning("leases: outcome=not-renewed: %s", error)
                continue
            for id_, holder in holding.items():
                session = self._sessions.get(id_)
                if id_ not in ours and session is not None and session.holder is holder:
                    holder.lose()
            for id_ in ours - holding.keys():
                self._consider(id_)

    async def _sweep(self) -> None:
        """Look for sessions that nobody holds and that wait: their process died, or was full."""
        while True:
            await asyncio.sleep(min(1.0, self._settings.lease_s / 4))
            if self._held >= self._settings.turns:
                continue
            try:
                # Those that it refuses are due as long as nobody else serves them.
                due = await self._journal.due(DUE_MAX + len(self._refused))
            except (UnavailableError, NewerSchemaError):
                metrics.JOURNAL_ERRORS.inc()
                continue
            for session_id in due:
                self._consider(session_id)

    def _forget(self, session: _Session) -> None:
        """Keep nothing of a session that nobody needs."""
        if session.users:
            return
        if session.following is not None:
            session.following.cancel()
        if self._sessions.get(session.live.id) is session:
            del self._sessions[session.live.id]
