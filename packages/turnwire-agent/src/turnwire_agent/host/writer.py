"""Writes of one holder to one session: one commit at a time, and what comes meanwhile is the next.

Rule: journal first, then tell. `committed` hears of events when they are committed, in order, and
nobody else tells of them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from turnwire_agent import metrics
from turnwire_agent.host.streamed import joined, size_of
from turnwire_agent.journal.port import (
    Appended,
    Effect,
    Journal,
    Lease,
    LeaseLostError,
    Row,
    UnavailableError,
)
from turnwire_agent.light_event import LightEvent
from turnwire_agent.session.codec import encode
from turnwire_agent.session.deltas import Delta
from turnwire_agent.session.events import Event, Streamed
from turnwire_agent.tools.run.raised import described

BATCH_MAX = 1_000
"""Most writes in one transaction."""


@dataclass(slots=True, kw_only=True)
class Extra:
    """What a transaction does beside writing events."""

    effects: Sequence[Effect] = ()
    take: Sequence[str] = ()
    """Ids of commands."""
    settle: bool = False
    release: bool = False
    wake_at: float | None = None


@dataclass(slots=True)
class _Write:
    """What somebody waits for."""

    events: Sequence[Event]
    extra: Extra
    done: asyncio.Future[None]

    @property
    def is_alone(self) -> bool:
        """Whether nothing may share its transaction: it may be refused, or it is the last."""
        return bool(self.extra.effects) or self.extra.release

    def end(self, error: Exception | None) -> None:
        if self.done.done():
            return
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)
            self.done.exception()  # whoever waited may be cancelled: then nobody asks


@dataclass(slots=True)
class _Added:
    """What was streamed since the last write."""

    turn_id: str
    deltas: list[Delta]
    size: int = 0


class Writer:
    """The only one who appends to a session, as long as its lease is good."""

    def __init__(
        self,
        journal: Journal,
        lease: Lease,
        *,
        committed: Callable[[Sequence[Event], int], None],
        lost: Callable[[Exception], None],
    ) -> None:
        """Take a lease.

        Args:
            journal: Where to.
            lease: Of the session.
            committed: Hears events once they are committed, and the number of the last row.
            lost: Hears once that nothing can be written any more, and why.

        """
        self.lease = lease
        self._journal = journal
        self._committed = committed
        self._lost = lost
        self._waiting: list[_Write | _Added] = []
        self._size = 0
        self._room = LightEvent()
        self._task: asyncio.Task[None] | None = None
        """Commits, from the first write to the end of the lease."""
        self._wanted: asyncio.Future[None] | None = None
        """What that task waits for while there is nothing to commit."""
        self._committing = False
        self._ended = False

    @property
    def is_good(self) -> bool:
        """Whether something can still be written."""
        return not self._ended

    def add(self, turn_id: str, delta: Delta) -> None:
        """Take something that is streamed."""
        if self._ended:
            return
        last = self._waiting[-1] if self._waiting else None
        if not isinstance(last, _Added) or last.turn_id != turn_id:
            last = _Added(turn_id, [])
            self._waiting.append(last)
        size = size_of(delta)
        last.deltas.append(delta)
        last.size += size
        self._size += size
        self._work()

    @property
    def size(self) -> int:
        """About how many bytes wait."""
        return self._size

    async def room(self, most: int) -> None:
        """Wait until at most `most` bytes wait, or nothing is written any more."""
        while self._size > most and not self._ended:
            self._room.clear()
            await self._room.wait()

    async def write(self, events: Sequence[Event], extra: Extra | None = None) -> None:
        """Write events behind all that came before; return when they are committed.

        A caller that is cancelled does not take them back.

        Raises:
            LeaseLostError: nothing of them was written, or it is not known.
            KeyTakenError: nothing of them was written.
            Exception: they cannot be written. Nothing of them was.

        """
        if self._ended:
            raise LeaseLostError
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Write(events, extra or Extra(), done))
        self._work()
        await asyncio.shield(done)

    async def flush(self) -> None:
        """Wait until all that was added is committed.

        Raises:
            LeaseLostError: not all of it was.

        """
        if self._waiting or self._committing:
            await self.write([])
        elif self._ended:
            raise LeaseLostError

    async def end(self) -> None:
        """Wait for the commit in flight; refuse what comes later."""
        self._give_up(LeaseLostError("the session is left"), tell=False)
        if self._task is not None:
            await asyncio.wait([self._task])

    def _work(self) -> None:
        if self._wanted is not None:
            if not self._wanted.done():
                self._wanted.set_result(None)
        elif self._task is None or self._task.done():
            self._task = asyncio.create_task(self._commit_all())

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._ended:
            if not self._waiting:
                self._wanted = loop.create_future()
                try:
                    await self._wanted
                finally:
                    self._wanted = None
                continue
            self._committing = True
            first = self._waiting[0]
            try:
                if isinstance(first, _Added) and len(self._waiting) == 1:  # nearly always
                    self._waiting = []
                    await self._commit_streamed(first)
                else:
                    await self._commit(self._next())
            finally:
                self._committing = False

    def _next(self) -> list[_Write | _Added]:
        """What the next transaction has in it."""
        batch = [self._waiting[0]]
        if not (isinstance(batch[0], _Write) and batch[0].is_alone):
            for each in self._waiting[1:BATCH_MAX]:
                if isinstance(each, _Write) and each.is_alone:
                    break
                batch.append(each)
        del self._waiting[: len(batch)]
        return batch

    async def _commit_streamed(self, added: _Added) -> None:
        """Do as `_commit` does with what has no other write beside it."""
        lost: LeaseLostError | None = None
        began = time.monotonic()
        try:
            each = encode(Streamed(added.turn_id, joined(added.deltas)))
            row = Row(each.kind, each.body, each.detail)
            appended = await self._journal.append(self.lease, (row,))
        except Exception as error:  # noqa: BLE001 - of whoever wrote what no row can hold
            lost = _as_lost(error)
        else:
            metrics.COMMIT_SECONDS.observe(time.monotonic() - began)
            self._committed((each.event,), appended.head)
        self._size -= added.size
        self._room.set()
        if lost is not None:
            self._give_up(lost)

    async def _commit(self, batch: Sequence[_Write | _Added]) -> None:
        events: list[Event] = []
        writes: list[_Write] = []
        size = 0
        for each in batch:
            if isinstance(each, _Added):
                events.append(Streamed(each.turn_id, joined(each.deltas)))
                size += each.size
            else:
                events += each.events
                writes.append(each)
        failure: Exception | None = None
        began = time.monotonic()
        try:
            encoded = [encode(event) for event in events]
            rows = [Row(each.kind, each.body, each.detail) for each in encoded]
            appended = await self._append(rows, [each.extra for each in writes])
        except Exception as error:  # noqa: BLE001 - of whoever wrote what no row can hold
            is_lost = isinstance(error, LeaseLostError | UnavailableError) or not writes
            failure = _as_lost(error) if is_lost else error
        else:
            metrics.COMMIT_SECONDS.observe(time.monotonic() - began)
            self._committed([each.event for each in encoded], appended.head)
        self._size -= size
        self._room.set()
        for write in writes:
            write.end(failure)
        if isinstance(failure, LeaseLostError):
            self._give_up(failure)
        elif any(write.extra.release for write in writes):
            self._give_up(LeaseLostError("the lease was given up"), tell=False)

    def _append(self, rows: Sequence[Row], extras: Sequence[Extra]) -> Awaitable[Appended]:
        return self._journal.append(
            self.lease,
            rows,
            take=[command for extra in extras for command in extra.take],
            effects=[effect for extra in extras for effect in extra.effects],
            settle=any(extra.settle for extra in extras),
            release=any(extra.release for extra in extras),
            wake_at=next((e.wake_at for e in extras if e.release), None),
        )

    def _give_up(self, failure: Exception, *, tell: bool = True) -> None:
        if self._ended:
            return
        self._ended = True
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if isinstance(each, _Write):
                each.end(failure)
        self._room.set()
        if self._wanted is not None:
            self._work()
        if tell:
            self._lost(failure)


def _as_lost(error: Exception) -> LeaseLostError:
    """What ends a writer: nothing that comes later may be written without this."""
    if isinstance(error, LeaseLostError):
        return error
    if isinstance(error, UnavailableError):
        metrics.JOURNAL_ERRORS.inc()
        return LeaseLostError(str(error))
    return LeaseLostError(f"not written: {described(error)}")
