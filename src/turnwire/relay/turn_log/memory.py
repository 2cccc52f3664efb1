"""A turn log in the memory of one process."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from turnwire.core.events import QuestionClosed, Reason, TurnFinished
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import Joined, pack_texts
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.agent.port import Listener
from turnwire.relay.memory_budget import Reservation
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_log.blocks import Blocks, Place
from turnwire.relay.turn_log.port import ChatKey, TurnControl, TurnState, WaitingTurn
from turnwire.relay.turn_log.reader import LogConnection

TURN_BYTES: Final = 1_024
"""What a turn takes beside its entries, about."""

TEXTS: Final = 64
TEXT_LENGTH: Final = 256
"""Most deltas that wait to be packed together, and the longest of them, in characters."""

_CANCELED: Final = entries.pack(TurnFinished(reason=Reason.CANCELED))


def _ignore() -> None:
    """Do nothing."""


class MemoryTurnLog:
    """A `TurnLog` for a process that has no other beside it.

    It keeps at most `turn_bytes` of one turn, and about `total_bytes` in all: turns that are over
    go first, then the largest that waits. If that is not enough, the turn that grows is no longer
    kept. A turn that is over is kept for `keep_s` seconds. `on_too_long` is called for each turn
    that is no longer kept.
    """

    def __init__(
        self,
        rounds: Rounds,
        *,
        turn_bytes: int,
        total_bytes: int,
        keep_s: float,
        on_too_long: Callable[[], object] = _ignore,
    ) -> None:
        self._on_too_long = on_too_long
        self.held_bytes = 0
        self._rounds = rounds
        self._turn_bytes = turn_bytes
        self._total_bytes = total_bytes
        self._keep_s = keep_s
        self._turns: dict[ChatKey, _Turn] = {}
        self._over: dict[_Turn, None] = {}
        """Turns that are over, the oldest first."""

    @property
    def turns(self) -> int:
        return len(self._turns)

    async def claim(self, key: ChatKey, head: bytes, control: TurnControl) -> "_Writer | None":
        former = self._turns.get(key)
        if former is not None:
            if former.state is TurnState.RUNNING:
                return None
            self.forget(former)
        self._turns[key] = turn = _Turn(self, key, head, control)
        self.grown(turn, turn.count())
        return _Writer(turn)

    async def resume_waiting(self, key: ChatKey, control: TurnControl) -> WaitingTurn | None:
        turn = self._turns.get(key)
        if turn is None or turn.state is not TurnState.WAITING:
            return None
        turn.run_again(control)
        return WaitingTurn(_Writer(turn), turn.head, list(turn.blocks.frames(Place())))

    async def open(
        self, key: ChatKey, listener: Listener, reservation: Reservation
    ) -> LogConnection:
        turn = self._turns.get(key)
        source = _Absent() if turn is None else _Reader(turn)
        connection = LogConnection(source, listener, reservation, self._rounds)
        if isinstance(source, _Reader):
            source.turn.add_reader(source, connection)
        connection.begin()
        return connection

    async def stop(self, key: ChatKey, turn_id: str | None) -> StopResult | Rejection:
        turn = self._turns.get(key)
        if turn is None or turn.state is TurnState.OVER:
            return Rejection.UNKNOWN
        if turn.state is TurnState.WAITING:
            return turn.stop_waiting(turn_id)
        return turn.control.stop(turn_id)

    async def answer(
        self, key: ChatKey, replies: Sequence[QuestionReply], user_id: str
    ) -> Rejection | None:
        turn = self._turns.get(key)
        if turn is None:
            return Rejection.UNKNOWN
        if turn.state is not TurnState.RUNNING:
            return Rejection.CLOSED
        return turn.control.answer(replies, user_id)

    async def aclose(self) -> None:
        for turn in list(self._turns.values()):
            self.forget(turn)

    # Calls of the turns.

    def grown(self, turn: "_Turn", size: int) -> None:
        """Count so many bytes that a turn holds more, and make room if that is too much."""
        self.held_bytes += size
        if turn.counted_bytes > self._turn_bytes or self.held_bytes > self._total_bytes:
            self._make_room(turn)

    def _make_room(self, turn: "_Turn") -> None:
        while self.held_bytes > self._total_bytes and (other := self._next_to_go()) is not None:
            self.forget(other)
        if turn.blocks.held_bytes > self._turn_bytes or self.held_bytes > self._total_bytes:
            if not turn.is_too_long:
                self._on_too_long()
            turn.drop_entries(self._turn_bytes)
            self.held_bytes += turn.count()

    def keep_over(self, turn: "_Turn") -> None:
        """Keep a turn that is over for a while."""
        self._over[turn] = None
        self.forget_later(turn, self._keep_s)

    def forget_later(self, turn: "_Turn", seconds: float) -> None:
        loop = asyncio.get_running_loop()
        turn.set_timer(loop.call_later(seconds, self.forget, turn))

    def forget(self, turn: "_Turn") -> None:
        """Keep this turn no longer. Readers of a turn that is over have it until they leave."""
        del self._turns[turn.key]
        self._over.pop(turn, None)
        self.held_bytes -= turn.counted_bytes
        turn.forgotten()

    def _next_to_go(self) -> "_Turn | None":
        if self._over:
            return next(iter(self._over))
        waiting = [turn for turn in self._turns.values() if turn.state is TurnState.WAITING]
        return max(waiting, key=lambda turn: turn.counted_bytes, default=None)


class _Writer:
    """The `TurnWriter` of one claim. It is of no use once the turn has another one."""

    is_kept = True

    def __init__(self, turn: "_Turn") -> None:
        self.append = turn.append
        self.append_texts = turn.append_texts
        self._turn = turn
        self._claim = turn.claim

    def end(self, *, is_received: bool) -> None:
        if self._turn.claim == self._claim:
            self._turn.is_received = is_received
            self._turn.end()

    def wait(self, seconds: float | None) -> None:
        if self._turn.claim == self._claim:
            self._turn.wait(seconds)

    def discard(self) -> None:
        if self._turn.claim == self._claim:
            self._turn.discard()


class _Nobody:
    """The `TurnControl` of a turn that does not run. It keeps no stream alive."""

    def stop(self, _turn_id: str | None) -> Rejection:
        return Rejection.UNKNOWN

    def answer(self, _replies: Sequence[QuestionReply], _user_id: str) -> Rejection:
        return Rejection.CLOSED

    def read_by(self, readers: int) -> None: ...


_NOBODY: Final = _Nobody()


class _Turn:
    """A turn that is kept.

    It refers to no writer, and to its stream only while it runs: so no reference cycle keeps a
    turn that is forgotten, with all its text, until the next collection.
    """

    def __init__(self, log: MemoryTurnLog, key: ChatKey, head: bytes, control: TurnControl) -> None:
        self.key = key
        self.head = head
        self.control: TurnControl = control
        self.claim = 1
        """The number of its last claim: an earlier writer is of no use any more."""
        self.state = TurnState.RUNNING
        self.blocks = Blocks()
        self.is_received = self.is_too_long = False
        self.counted_bytes = 0
        """What the log counts for this turn."""
        self._texts: list[str] = []
        """Deltas that are not packed yet, while nobody reads them: that is faster for many."""
        self._log = log
        self._readers: dict[_Reader, LogConnection] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._waits_until = 0.0

    # Calls of its writer.

    def append_texts(self, texts: Sequence[str]) -> None:
        waiting = self._texts
        waiting += texts
        if self._readers or len(waiting) >= TEXTS or len(texts[-1]) > TEXT_LENGTH:
            self.pack_waiting()

    def pack_waiting(self) -> None:
        """Keep the deltas that wait as other entries are kept."""
        texts, self._texts = self._texts, []
        if texts:
            self._append(pack_texts(texts), len(texts))

    def append(self, packed: bytes, count: int) -> None:
        if self._texts:
            self.pack_waiting()
        self._append(packed, count)

    def _append(self, packed: bytes, count: int) -> None:
        if self.state is not TurnState.RUNNING or (self.is_too_long and not self._readers):
            return
        self.blocks.add(packed, count)
        self.counted_bytes += len(packed)
        self._log.grown(self, len(packed))
        if self._readers:
            for connection in self._readers.values():
                connection.wake()

    def end(self) -> None:
        self.pack_waiting()
        if self.state is TurnState.RUNNING:
            self.state = TurnState.OVER
            self.control = _NOBODY
            self.blocks.seal()
            self._log.keep_over(self)

    def wait(self, seconds: float | None) -> None:
        if self.state is not TurnState.RUNNING:
            return
        self.pack_waiting()
        now = asyncio.get_running_loop().time()
        if seconds is not None:
            self._waits_until = now + seconds
        self.state = TurnState.WAITING
        self.control = _NOBODY
        self.blocks.seal()
        self._log.forget_later(self, max(0.0, self._waits_until - now))

    def discard(self) -> None:
        if self.state is TurnState.RUNNING:
            self._log.forget(self)

    # Calls of the log.

    def run_again(self, control: TurnControl) -> None:
        """Continue a turn that waits."""
        self.set_timer(None)
        self.claim += 1
        self.state = TurnState.RUNNING
        self.control = control
        self._count_readers()

    def stop_waiting(self, turn_id: str | None) -> StopResult | Rejection:
        """End a turn that waits."""
        turn_ids = entries.turn_ids(self.blocks.frames(Place()))
        if turn_id is not None and turn_id not in turn_ids:
            return Rejection.OTHER_TURN
        self.state = TurnState.RUNNING  # so that this entry cannot push the turn out
        self.append(_CANCELED, 1)
        self.end()
        return StopResult(
            stopped=True, turn_id=turn_id or next(iter(turn_ids), None), reason="canceled"
        )

    def set_timer(self, timer: asyncio.TimerHandle | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer

    def count(self) -> int:
        """Count again what this turn holds. Return how much more that is than before."""
        before, self.counted_bytes = (
            self.counted_bytes,
            TURN_BYTES + len(self.head) + self.blocks.held_bytes,
        )
        return self.counted_bytes - before

    def drop_entries(self, most_bytes: int) -> None:
        """Keep what readers lack, except those that lack more than so many bytes."""
        self.is_too_long = True
        for reader, connection in list(self._readers.items()):
            if self.blocks.unread_bytes(reader.place) > most_bytes:
                connection.leave(DisconnectReason.NO_ROOM)
        self.blocks.seal()
        places = (self.blocks.first_needed(reader.place) for reader in self._readers)
        self.blocks.forget(min(places, default=None))

    def forgotten(self) -> None:
        """End the readers of a turn that is not over: nothing more comes."""
        self.set_timer(None)
        self.control = _NOBODY
        if self.state is not TurnState.OVER:
            self.state = TurnState.OVER
            for connection in list(self._readers.values()):
                connection.leave(DisconnectReason.CLOSED)

    # Calls of readers.

    def add_reader(self, reader: "_Reader", connection: LogConnection) -> None:
        self.pack_waiting()
        self._readers[reader] = connection
        self._count_readers()

    def remove_reader(self, reader: "_Reader") -> None:
        self._readers.pop(reader, None)
        self._count_readers()

    def _count_readers(self) -> None:
        if self.state is TurnState.RUNNING:
            self.control.read_by(len(self._readers))


class _Reader:
    """The `FrameSource` of one reader."""

    def __init__(self, turn: _Turn) -> None:
        self.turn = turn
        self.place = Place()
        self._is_refused = False

    def open_frame(self) -> Iterator[bytes | None]:
        if self.turn.is_too_long:
            self._is_refused = True
            yield entries.too_long()
            return
        backlog = 0
        closed: list[QuestionClosed] = []

        def frames() -> Iterator[bytes]:
            nonlocal backlog
            for frame in self.turn.blocks.frames(Place()):
                backlog += entries.count_of(frame)
                yield frame

        for end in entries.closed_questions(frames()):
            if end is None:
                yield None
            else:
                closed.append(end)
        yield entries.opening(self.turn.head, Joined(backlog, self.turn.is_received), closed)

    def next_frame(self) -> bytes | None:
        return None if self._is_refused else self.turn.blocks.next_frame(self.place)

    def close(self) -> None:
        self.turn.remove_reader(self)


class _Absent:
    """The `FrameSource` of a reader that finds no turn."""

    def open_frame(self) -> Iterator[bytes | None]:
        yield entries.absent()

    def next_frame(self) -> None:
        """Return nothing: the first frame is all."""

    def close(self) -> None: ...
