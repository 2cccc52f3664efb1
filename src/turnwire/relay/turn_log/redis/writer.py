"""Writes the running turns of this process, and shows that the process lives."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, TypeAlias

from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.batches import TextRows, Write, next_write, renewal, run_all
from turnwire.relay.turn_log.redis.found import LOST
from turnwire.relay.turn_log.redis.patience import ANSWER_S
from turnwire.relay.turn_log.redis.servers import Servers
from turnwire.relay.turn_log.redis.turn import RedisTurn
from turnwire.relay.turn_log.tasks import end

LEASE_S: Final = 6.0
"""A process that was not seen for so long is gone, and its turns with it."""

KEEP_S: Final = 2.0
"""Seconds between two renewals of the leases."""

BATCH_S: Final = 0.02
"""How long an entry waits for others, in seconds."""

UNREAD_S: Final = 0.1
"""How long short texts wait for others, in seconds, if nobody reads the turn, one of many.

Each pipeline costs all streams of the process some latency. A process that is killed loses them."""

_FEW: Final = 8
"""Of so many turns, or fewer, no texts wait that long."""

_SLICE: Final = 8
"""Turns whose writes are made, or confirmed, before other work of the loop: 0.02 to 0.06 ms."""

_LOOK_S: Final = 1.0
"""Seconds between two tries with a server that failed."""

_FLUSH_BYTES: Final = 2_097_152
"""Most bytes of one pipeline, but for a slice of turns more."""

_LEASE_MS: Final = round(LEASE_S * 1_000)

OnMessages: TypeAlias = Callable[[RedisTurn, Sequence[bytes]], object]
"""Gets the messages to the process of a turn: number, message, number, and so on."""


class Writer:
    """Writes what changes within `BATCH_S`, for all turns in one pipeline; some texts later.

    `process` is the id of this one. At most `total_bytes` wait for Redis, and as many, but at most
    2 MiB, are on their way, but for a slice of turns more.
    """

    def __init__(
        self,
        servers: Servers,
        process: str,
        *,
        on_messages: OnMessages,
        on_done: Callable[[RedisTurn], object],
        total_bytes: int,
        keep_s: float,
    ) -> None:
        self._servers = servers
        self._process = process
        self._on_messages = on_messages
        self._on_done = on_done
        self._total_bytes = total_bytes
        self._held_bytes = 0
        self._row_bytes = 0
        """Of rows on their way: to lose a turn would not free them. If they fail, they wait."""
        self._keep_s = keep_s
        self.kept_ms = round((LEASE_S + keep_s) * 1_000)
        """How long Redis keeps a running turn whose process it does not see."""
        self._turns: dict[RedisTurn, float | None] = {}
        """Those that Redis does not have to the end, and how long that is tried after their end."""
        self._dirty: dict[RedisTurn, None] = {}
        self._unread: dict[RedisTurn, None] = {}
        """Those with texts that wait until more have come."""
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: dict[RedisTurn, None] = {}
        """Those that could not be written."""
        self._wake, self._urgent = asyncio.Event(), asyncio.Event()
        self._settling: dict[RedisTurn, asyncio.Future[None]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def held_bytes(self) -> int:
        return self._held_bytes + self._row_bytes

    def __len__(self) -> int:
        return len(self._turns)

    def __contains__(self, turn: object) -> bool:
        return turn in self._turns

    def start(self) -> None:
        """Look from now on whether a server that failed answers again."""
        if not self._tasks:
            self._tasks = [asyncio.create_task(each) for each in (self._write(), self._look())]

    def add(self, turn: RedisTurn) -> None:
        """Write this turn from now on."""
        self.start()
        self._turns[turn] = None

    def on_change(self, turn: RedisTurn) -> None:
        if turn in self._turns:
            if not self._dirty:
                self._wake.set()
            self._dirty[turn] = None
            if not turn.is_running:
                self._urgent.set()

    def on_texts(self, turn: RedisTurn) -> None:
        """Write texts that wait from now on."""
        if turn.readers or len(self._turns) <= _FEW:
            self.on_change(turn)
        elif turn in self._turns:
            self._unread[turn] = None
            if self._timer is None:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(UNREAD_S, self._write_unread)

    def hurry(self, turn: RedisTurn) -> None:
        """Write at once what waits of a turn, if something does."""
        self._unread.pop(turn, None)
        if turn in self._turns and turn.has_more:
            self.on_change(turn)
            self._urgent.set()

    def _write_unread(self) -> None:
        self._timer = None
        if self._unread:
            self._dirty |= self._unread
            self._unread.clear()
            self._wake.set()
            self._urgent.set()

    def on_held(self, turn: RedisTurn, size: int) -> None:
        self._held_bytes += size
        if size > 0 and self._held_bytes > self._total_bytes:
            if turn in self._turns:
                self._make_room()
            else:
                turn.lose(LOST)

    def _make_room(self) -> None:
        """Lose the largest turn of the user for whom most waits."""
        waiting = Counter[str]()
        for turn in self._turns:
            waiting[turn.user_id] += turn.pending_bytes
        for user_id, _ in waiting.most_common(1):
            of_user = [turn for turn in self._turns if turn.user_id == user_id]
            largest = max(of_user, key=lambda turn: turn.pending_bytes)
            largest.lose(LOST)
            self.on_change(largest)

    def forget(self, turn: RedisTurn) -> None:
        """Write nothing more of this turn: another one has its chat."""
        turn.lose(LOST)
        self._remove(turn)

    async def settle(self, turn: RedisTurn) -> None:
        """Wait until Redis has the end of this turn, for `ANSWER_S` at most."""
        if turn in self._turns:
            future = self._settling.setdefault(turn, asyncio.get_running_loop().create_future())
            await asyncio.wait([future], timeout=ANSWER_S)

    async def keep(self, turns: Iterable[RedisTurn]) -> None:
        """Renew the leases of these turns, and take their messages."""
        # One that is being claimed is not in `_turns` yet.
        writes = [
            renewal(turn, self._process, _LEASE_MS, self.kept_ms)
            for turn in turns
            if turn.is_running and turn in self._turns
        ]
        replies = await run_all(self._servers, [write.call for write in writes])
        for write, reply in zip(writes, replies, strict=True):
            if not write.turn.is_running or reply is None:
                continue
            status = reply[0]
            if write.call.script is scripts.CLAIM:
                if status:
                    write.turn.claim_without_frames()
            elif status < 0:
                self._lost_lease(write.turn)
            else:
                write.turn.set_readers(status)
                if status and write.turn in self._unread:  # its first reader came
                    self.hurry(write.turn)
                self._on_messages(write.turn, reply[1:])

    async def aclose(self) -> None:
        """Leave the turns that run, so that their readers end at once."""
        await end(*self._tasks)
        if self._timer is not None:
            self._timer.cancel()
        for turn in list(self._turns):
            turn.leave()
        self._dirty = dict.fromkeys(self._turns)
        while self._dirty:  # one pipeline may not have room for all; what fails is not tried again
            turns, self._dirty = list(self._dirty), {}
            await self._flush(turns)

    # The two tasks.

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            timer = loop.call_later(BATCH_S, self._urgent.set)
            await self._urgent.wait()
            timer.cancel()
            self._wake.clear()
            self._urgent.clear()
            turns, self._dirty = list(self._dirty), {}
            await self._flush(turns)

    async def _look(self) -> None:
        """Renew leases, and try again what failed."""
        loop = asyncio.get_running_loop()
        keep_at = loop.time() + KEEP_S
        while True:
            await asyncio.sleep(_LOOK_S)
            await self._servers.probe()
            for turn in self._stuck:
                self._dirty[turn] = None
                self._wake.set()
            self._stuck.clear()
            if loop.time() >= keep_at:
                keep_at = loop.time() + KEEP_S
                await self.keep(list(self._turns))
                self._drop_old(loop.time())

    def _drop_old(self, now: float) -> None:
        """Forget turns whose end Redis did not take for too long."""
        for turn, until in list(self._turns.items()):
            if turn.is_running:
                continue
            if until is None:
                self._turns[turn] = now + self._keep_s
            elif now > until:
                self.forget(turn)

    # Calls.

    async def _flush(self, turns: Sequence[RedisTurn]) -> None:
        made: list[TextRows] = []
        writes: list[Write] = []
        written_rows = self._written_rows(made)
        try:
            await self._make(turns, made, writes)
            replies = await run_all(self._servers, [write.call for write in writes], made)
            await _give_way(len(turns))
            for index, _ in enumerate(written_rows, 1):
                if index % _SLICE == 0:
                    await asyncio.sleep(0)
        finally:  # if the process stops here, nobody knows what Redis has of the other rows
            for _ in written_rows:
                pass
        for index, (write, reply) in enumerate(zip(writes, replies, strict=True)):
            if index % _SLICE == 0:
                await _give_way(len(writes))
            if reply is None:
                self._stuck[write.turn] = None
            else:
                self._written(write, reply)

    async def _make(
        self, turns: Sequence[RedisTurn], made: list[TextRows], writes: list[Write]
    ) -> None:
        """Make what these turns have to write, for one pipeline."""
        size = 0
        for first in range(0, len(turns), _SLICE):
            await _give_way(len(turns))
            of_slice = turns[first : first + _SLICE]
            if self._may_add_rows and size <= _FLUSH_BYTES:
                if not made or made[-1].is_full:
                    made.append(TextRows(_LEASE_MS, self.kept_ms))
                before = made[-1].size
                of_slice = made[-1].add_texts_of(of_slice)
                added = made[-1].size - before
                size += added
                self._row_bytes += added
            for turn in of_slice:
                size += self._make_write(turn, writes, has_room=size <= _FLUSH_BYTES)
        if made and not made[-1].size:
            made.pop()
        await _give_way(len(turns))

    @property
    def _may_add_rows(self) -> bool:
        is_up = self._servers.takes_many and not self._servers.is_down("")
        return is_up and self.held_bytes < self._total_bytes

    def _make_write(self, turn: RedisTurn, writes: list[Write], *, has_room: bool) -> int:
        """Make what a turn has to write. Return its size. `has_room`: in this pipeline."""
        if turn not in self._turns:
            return 0
        if self._servers.is_down(turn.key):
            turn.keep_texts()
            self._stuck[turn] = None
        elif not turn.has_lease:
            self._check_done(turn)
        elif not has_room:
            self.on_change(turn)
        else:
            turn.keep_texts()
            if turn.has_more:
                writes.append(next_write(turn, _LEASE_MS, self.kept_ms))
                return writes[-1].call.size
        return 0

    def _written_rows(self, made: Sequence[TextRows]) -> Iterator[None]:
        """Note the replies to these rows, if there are any, in steps of one row.

        There is no step for rows that Redis has all taken.
        """
        for rows in made:
            self._row_bytes -= rows.size
            if rows.replies != []:
                for (turn, data), reply in zip_longest(rows.rows(), rows.replies or ()):
                    self._written_row(turn, data, reply)
                    yield

    def _written_row(self, turn: RedisTurn, data: bytes, reply: Sequence[Any] | None) -> None:
        if reply is None:
            turn.take_back(data)
            if self._servers.is_down(turn.key):
                self._stuck[turn] = None
            else:  # one of the rows may be to blame
                self.on_change(turn)
            return
        status, readers = reply
        if status < 0:
            turn.take_back(data)
            self._refused(turn, status)
            return
        if turn.is_kept:
            turn.set_readers(readers)
        self._go_on(turn)

    def _written(self, write: Write, reply: Sequence[Any]) -> None:
        turn = write.turn
        if write.batch is None:
            if write.has_begun is turn.has_begun:
                turn.confirm_lost(write.note)
            turn.confirm_end(write.ends)
        else:
            status, readers = reply
            if status < 0:
                self._refused(turn, status)
                return
            if turn.is_kept:
                turn.confirm(write.batch, readers)
        self._go_on(turn)

    def _refused(self, turn: RedisTurn, status: int) -> None:
        """Redis did not take frames of this turn."""
        if status == scripts.FULL:
            self._servers.failed("full")
            if turn.is_running:
                self._stuck[turn] = None
                return
            turn.lose(LOST)  # to give the chat up needs no memory
        elif status == scripts.HOLE:
            turn.lose(LOST)
        else:
            self._lost_lease(turn)
        self._go_on(turn)

    def _go_on(self, turn: RedisTurn) -> None:
        self._check_done(turn)
        if turn.has_more:
            (self.on_change if turn.has_others else self.on_texts)(turn)

    def _lost_lease(self, turn: RedisTurn) -> None:
        turn.has_lease = False
        turn.lose(LOST)

    def _check_done(self, turn: RedisTurn) -> None:
        if turn.is_written or not (turn.is_running or turn.has_lease):
            self._remove(turn)

    def _remove(self, turn: RedisTurn) -> None:
        for turns in (self._turns, self._dirty, self._unread, self._stuck):
            turns.pop(turn, None)
        if (future := self._settling.pop(turn, None)) is not None and not future.done():
            future.set_result(None)
        self._on_done(turn)


async def _give_way(turns: int) -> None:
    """Let the loop read what came meanwhile, if there are many turns."""
    if turns > _SLICE:
        await asyncio.sleep(0)
