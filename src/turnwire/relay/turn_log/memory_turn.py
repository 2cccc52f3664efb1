"""A turn in the memory of a process, and its readers."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from turnwire.core.events import QuestionClosed, Reason, TurnFinished
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import TEXT_LENGTH, TEXTS, Joined, pack_texts
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.turn_log.blocks import Blocks, Place
from turnwire.relay.turn_log.port import NOBODY, ChatKey, TurnControl, TurnState
from turnwire.relay.turn_log.reader import LogConnection

TURN_BYTES: Final = 1_024
"""What a turn takes beside its entries, about."""

_CANCELED: Final = entries.pack(TurnFinished(reason=Reason.CANCELED))


class Turns(Protocol):
    """All turns of the process, as one of them calls them."""

    def begun(self, turn: "MemoryTurn", /) -> None:
        """A turn has its first entry: it takes the place of the former turn of its chat."""
        ...

    def grown(self, turn: "MemoryTurn", size: int, /) -> None:
        """Count so many bytes that a turn holds more, and make room if that is too much."""
        ...

    def keep_over(self, turn: "MemoryTurn", /) -> None:
        """Keep a turn that is over for a while."""
        ...

    def forget_later(self, turn: "MemoryTurn", seconds: float, /) -> None:
        """Forget a turn after this time."""
        ...

    def discard(self, turn: "MemoryTurn", /) -> None:
        """Forget a turn that never began. The former one is the last turn of its chat again."""
        ...


class UserTurns:
    """What the turns of one user take."""

    __slots__ = ("count", "held_bytes", "over", "user_id")

    def __init__(self, user_id: str) -> None:
        self.user_id = user_id
        self.count = self.held_bytes = 0
        """How many turns the user has, and their bytes."""
        self.over: dict[MemoryTurn, None] = {}
        """Those that are over, the oldest first."""

    def held(self) -> int:
        return self.held_bytes


class MemoryTurn:
    """A turn that is kept.

    It refers to no writer, and to its stream only while it runs: so no reference cycle keeps a
    turn that is forgotten, with all its text, until the next collection.
    """

    __slots__ = (
        "_has_begun",
        "_log",
        "_readers",
        "_texts",
        "_timer",
        "_waits_until",
        "blocks",
        "claim",
        "control",
        "counted_bytes",
        "head",
        "is_received",
        "is_too_long",
        "key",
        "state",
        "user",
    )

    def __init__(
        self, log: Turns, key: ChatKey, head: bytes, control: TurnControl, user: UserTurns
    ) -> None:
        self.key = key
        self.user = user
        self.head = head
        self.control: TurnControl = control
        self.claim = 1
        """The number of its last claim: an earlier writer is of no use any more."""
        self.state = TurnState.RUNNING
        self.blocks = Blocks()
        self.is_received = self.is_too_long = False
        self._has_begun = False
        self.counted_bytes = 0
        """What the log counts for this turn."""
        self._texts: list[str] = []
        """Deltas that are not packed yet, while nobody reads them: that is faster for many."""
        self._log = log
        self._readers: dict[MemoryReader, LogConnection] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._waits_until = 0.0

    # Calls of its writer.

    def append_texts(self, texts: Sequence[str]) -> None:
        waiting = self._texts
        waiting += texts
        if self._readers or len(waiting) >= TEXTS or max(map(len, texts)) > TEXT_LENGTH:
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
        if not self._has_begun:
            self._begin()
        if self.state is not TurnState.RUNNING or (self.is_too_long and not self._readers):
            return
        self.blocks.add(packed, count)
        self.counted_bytes += len(packed)
        self._log.grown(self, len(packed))
        if self._readers:
            for connection in self._readers.values():
                connection.wake()

    def _begin(self) -> None:
        if self.state is TurnState.RUNNING:
            self._has_begun = True
            self._log.begun(self)

    def end(self) -> None:
        self.pack_waiting()
        if self.state is TurnState.RUNNING:
            self._begin()
            self.state = TurnState.OVER
            self.control = NOBODY
            self.blocks.seal()
            self._log.keep_over(self)

    def wait(self, seconds: float | None) -> None:
        if self.state is not TurnState.RUNNING:
            return
        self.pack_waiting()
        self._begin()
        now = asyncio.get_running_loop().time()
        if seconds is not None:
            self._waits_until = now + seconds
        self.state = TurnState.WAITING
        self.control = NOBODY
        self.blocks.seal()
        self._log.forget_later(self, max(0.0, self._waits_until - now))

    def discard(self) -> None:
        if self.state is TurnState.RUNNING:
            self._log.discard(self)

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

    def held(self) -> int:
        """Return what the log counts for this turn."""
        return self.counted_bytes

    @property
    def is_undelivered(self) -> bool:
        """Whether readers get it, and its client has not got its end."""
        return self._has_begun and not self.is_too_long and not self.is_received

    def has_asked(self, replies: Sequence[QuestionReply]) -> bool:
        """Whether a turn that is over has asked all that is answered here."""
        return entries.are_closed(replies, entries.closed_questions(self.blocks.frames(Place())))

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
        self.control = NOBODY
        if self.state is not TurnState.OVER:
            self.state = TurnState.OVER
            for connection in list(self._readers.values()):
                connection.leave(DisconnectReason.CLOSED)

    # Calls of readers.

    def add_reader(self, reader: "MemoryReader", connection: LogConnection) -> None:
        self.pack_waiting()
        self._readers[reader] = connection
        self._count_readers()

    def remove_reader(self, reader: "MemoryReader") -> None:
        self._readers.pop(reader, None)
        self._count_readers()

    def _count_readers(self) -> None:
        if self.state is TurnState.RUNNING:
            self.control.read_by(len(self._readers))


class MemoryReader:
    """The `FrameSource` of one reader."""

    def __init__(self, turn: MemoryTurn) -> None:
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
