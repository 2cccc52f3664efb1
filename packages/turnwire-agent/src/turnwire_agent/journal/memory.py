"""A journal in the memory of one process, for tests and for agents that need not survive it.

It ends with its process, and has room for a number of sessions. For a new one, the one that nobody
used for longest is forgotten, with its effects, unless somebody holds it or it is due at some time.
"""

import time
from collections.abc import AsyncGenerator, Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from turnwire_agent.journal.followers import Followers
from turnwire_agent.journal.ids import checked
from turnwire_agent.journal.port import (
    COMMANDS_MAX,
    TAKEN_IDS_MIN,
    Appended,
    Change,
    Command,
    Effect,
    KeyTakenError,
    Lease,
    LeaseLostError,
    Row,
    UnavailableError,
)
from turnwire_agent.journal.room import check_room


class _Session(Struct):
    rows: list[Row] = field(default_factory=list)
    settled: int = 0
    owner: str | None = None
    epoch: int = 0
    due_at: float | None = None
    """When it is due: with an owner the end of the lease."""
    commands: dict[str, Command] = field(default_factory=dict)
    taken: dict[str, None] = field(default_factory=dict)
    """Ids of taken commands, oldest first."""
    arrivals: int = 0
    keys: set[str] = field(default_factory=set)
    """Of its effects."""

    def take(self, ids: Sequence[str]) -> None:
        for each in ids:
            if self.commands.pop(each, None) is not None:
                self.taken[each] = None
        while len(self.taken) > TAKEN_IDS_MIN:
            del self.taken[next(iter(self.taken))]


class MemoryJournal:
    """The journal.

    Args:
        sessions_max: Most sessions.
        clock: Seconds since 1970.

    """

    def __init__(
        self, *, sessions_max: int = 10_000, clock: Callable[[], float] = time.time
    ) -> None:
        self._sessions_max = sessions_max
        self._clock = clock
        self._sessions: dict[str, _Session] = {}
        """The one that was changed last is the last."""
        self._effects: dict[str, Effect] = {}
        self._followers = Followers()
        self._open = False

    async def start(self) -> None:
        self._open = True

    async def aclose(self) -> None:
        self._open = False
        self._followers.close()

    async def read(
        self, session: str, *, after: int = 0, details: bool = False, limit: int = 1_000
    ) -> Sequence[Row]:
        self._check(session)
        found = self._sessions.get(session, _Session())
        kept: list[Row] = []
        for row in found.rows[after:]:
            if len(kept) == limit:
                break
            if details or not row.detail or row.seq > found.settled:
                kept.append(row)
        return kept

    async def put(self, session: str, command: Command) -> bool:
        self._check(session, command.id)
        found = self._sessions.get(session, _Session())
        if command.id in found.commands or command.id in found.taken:
            return False
        waiting = [*found.commands.values(), command]
        check_room(command, number=len(waiting), size=sum(len(each.body) for each in waiting))
        found = self._changed(session)
        found.arrivals += 1
        found.commands[command.id] = replace(command, number=found.arrivals)
        now = self._clock()
        if found.owner is None and (found.due_at is None or found.due_at > now):
            found.due_at = now
        self._followers.wake(session, commands=True)
        return True

    async def commands(self, session: str, *, limit: int = COMMANDS_MAX) -> Sequence[Command]:
        self._check(session)
        return tuple(self._sessions.get(session, _Session()).commands.values())[:limit]

    async def claim(self, session: str, owner: str, lease_s: float) -> Lease | None:
        self._check(session, owner)
        found = self._changed(session)
        now = self._clock()
        if found.owner not in (None, owner) and (found.due_at or now) > now:
            return None
        found.owner = owner
        found.epoch += 1
        found.due_at = now + lease_s
        return Lease(session, owner, found.epoch, now)

    async def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        self._check(owner)
        held = {id_: each for id_, each in self._sessions.items() if each.owner == owner}
        for each in held.values():
            each.due_at = self._clock() + lease_s
        return frozenset(held)

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
        self._check()
        found = self._sessions.get(lease.session)  # its id was checked with the claim
        if found is None or found.owner != lease.owner or found.epoch != lease.epoch:
            raise LeaseLostError
        if take or effects:  # nearly never: what is streamed has neither
            checked(*take, *(each.key for each in effects))
            recorded = self._recorded(effects)
            self._effects |= recorded
            found.keys |= recorded.keys()
            found.take(take)
        del self._sessions[lease.session]
        self._sessions[lease.session] = found
        seq = len(found.rows)
        for row in rows:
            seq += 1
            found.rows.append(Row(row.kind, row.body, row.detail, seq, lease.epoch))
        if settle:
            found.settled = len(found.rows)
        if release:
            found.owner = None
            found.due_at = self._clock() if found.commands else wake_at
        self._followers.wake(lease.session, rows=True, by=lease.owner)
        return Appended(seq)

    async def effect(self, key: str) -> Effect | None:
        self._check(key)
        return self._effects.get(key)

    async def due(self, limit: int = 100) -> Sequence[str]:
        self._check()
        now = self._clock()
        waiting = sorted(
            (each.due_at, id_)
            for id_, each in self._sessions.items()
            if each.due_at is not None and each.due_at <= now
        )
        return [id_ for _, id_ in waiting[:limit]]

    async def sessions(self, *, after: str = "", limit: int = 100) -> Sequence[str]:
        self._check()
        return sorted(id_ for id_ in self._sessions if id_ > after)[:limit]

    def follow(self, session: str, owner: str = "") -> AsyncGenerator[Change, None]:
        self._check(session)
        return self._followers.follow(session, owner)

    def _check(self, *ids: str) -> None:
        if not self._open:
            raise UnavailableError("The journal is closed.")
        checked(*ids)

    def _recorded(self, effects: Sequence[Effect]) -> dict[str, Effect]:
        recorded: dict[str, Effect] = {}
        for each in effects:
            older = recorded.get(each.key) or self._effects.get(each.key)
            if older is not None and older.call != each.call:
                raise KeyTakenError
            recorded[each.key] = each
        return recorded

    def _changed(self, session: str) -> _Session:
        """Return a session that is about to change, behind all others; make it if need be."""
        found = self._sessions.pop(session, None)
        if found is None:
            if len(self._sessions) >= self._sessions_max:
                self._forget_one()
            found = _Session()
        self._sessions[session] = found
        return found

    def _forget_one(self) -> None:
        for id_, each in self._sessions.items():
            if each.due_at is None:
                for key in each.keys:
                    del self._effects[key]
                del self._sessions[id_]
                return
        raise UnavailableError("All sessions that the memory has room for are in use.")
