"""A turn that runs in this process, and what Redis does not have of it yet."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from turnwire.core.turn_log.entries import (
    FRAME_HEAD_BYTES,
    TEXT_LENGTH,
    TEXTS,
    QuestionEnds,
    count_of,
    frame,
    frame_of_texts,
    pack,
    pack_texts,
)
from turnwire.relay.turn_log.port import ChatKey, TurnControl
from turnwire.relay.turn_log.redis.found import (
    GONE,
    LONG,
    LOST,
    OVER,
    RECEIVED,
    WAITING,
    Batch,
    user_of,
)

FRAME_BYTES: Final = 16_384
"""A frame of this size is complete. What is added at once is never divided."""

_BATCH_BYTES: Final = 1_048_576
_BATCH_FRAMES: Final = 512
"""A batch has at most one frame more than that. A script takes a few thousand arguments."""

TURN_BYTES: Final = 1_024
FRAME_COST_BYTES: Final = 16
"""What a turn takes in Redis beside its frames, and a frame beside its bytes, about."""


class RedisTurn:
    """A `TurnWriter`.

    `on_change` gets the turn when there is something to write, and `on_texts` when that is texts
    alone. `on_held` gets each change of `pending_bytes`. `on_too_long` is called when new readers
    cannot get the turn any more, and `on_not_received` when Redis may have that a client has the
    end, and the client does not.

    `is_kept`: Redis has each entry, or will have it. `has_lease`: Redis knows that the turn runs.
    `has_begun`: it had an entry. `is_written`: Redis knows that it does not run any more.
    """

    __slots__ = (
        "_ends",
        "_fields",
        "_frames",
        "_has_events",
        "_keep_ms",
        "_kept_ms",
        "_on_change",
        "_on_held",
        "_on_not_received",
        "_on_texts",
        "_on_too_long",
        "_open",
        "_open_count",
        "_question_ends",
        "_size",
        "_sizes",
        "_texts",
        "_turn_bytes",
        "base",
        "control",
        "count",
        "frames_written",
        "has_begun",
        "has_lease",
        "head",
        "id",
        "is_kept",
        "is_running",
        "is_written",
        "key",
        "note",
        "pending_bytes",
        "readers",
        "replies",
        "row_start",
        "user_id",
    )

    def __init__(
        self,
        key: ChatKey,
        turn_id: str,
        head: bytes,
        control: TurnControl,
        *,
        on_change: "Callable[[RedisTurn], object]",
        on_texts: "Callable[[RedisTurn], object]",
        on_held: "Callable[[RedisTurn, int], object]",
        on_too_long: Callable[[], object],
        on_not_received: "Callable[[RedisTurn], object]",
        turn_bytes: int,
        keep_s: float,
    ) -> None:
        self.key, self.id, self.head = key, turn_id, head
        self.user_id = user_of(head)
        self.control = control
        self.is_kept = self.is_running = True
        self.has_lease = self.has_begun = self.is_written = False
        self.readers = 0
        self.note = ""
        self.pending_bytes = 0
        """Of entries that Redis has not confirmed, without texts that wait and those of a row."""
        self.row_start: tuple[bytes, bytes] | None = None
        """What is the same in all rows of it: its keys, and the first values. Made by the first."""
        self.replies: dict[bytes, tuple[str, bytes]] = {}
        """Whom it replied what, by the number of the message: a message may come twice."""
        self._on_change, self._on_texts, self._on_held = on_change, on_texts, on_held
        self._on_too_long, self._on_not_received = on_too_long, on_not_received
        self._turn_bytes, self._keep_ms = turn_bytes, round(keep_s * 1_000)
        self._size = TURN_BYTES + len(head)
        self.count = self.frames_written = self.base = 0
        """The entries and frames that Redis has, or is about to, and how many of them it forgot."""
        self._question_ends = QuestionEnds()
        self._frames: deque[bytes] = deque()
        """Those after the confirmed ones. Redis may have some of them."""
        self._sizes: deque[int] = deque()
        """Of the confirmed frames from `base` on."""
        self._texts: list[str] = []
        """Those after the open frame. They are packed when they are written."""
        self._open, self._open_count = bytearray(), 0
        self._has_events = False
        """Whether the open frame has more than texts."""
        self._fields: dict[str, bytes | str | int] = {}
        self._ends, self._kept_ms = "", 0

    def continue_after(self, base: int, frames: Sequence[bytes]) -> None:
        """Redis has these frames of the turn already."""
        self.base = base
        self.frames_written = base + len(frames)
        self.has_begun = True
        for data in frames:
            self.count += count_of(data)
            self._size += len(data) + FRAME_COST_BYTES
            self._sizes.append(len(data))
            self._question_ends.add(data)

    # Calls of the stream that runs the turn.

    def append(self, packed: bytes, count: int) -> None:
        self.keep_texts()
        self._append(packed, count, has_events=True)

    def append_texts(self, texts: Sequence[str]) -> None:
        waiting = self._texts
        if not waiting:
            if not self.has_begun:
                self._begin()
            self._on_texts(self)
        waiting += texts
        if len(waiting) >= TEXTS or max(map(len, texts)) > TEXT_LENGTH:
            self.keep_texts()

    def keep_texts(self) -> None:
        """Keep the texts that wait, as other entries are kept."""
        if texts := self._texts:
            self._texts = []
            self._append(pack_texts(texts), len(texts), has_events=False)

    def end(self, *, is_received: bool) -> None:
        self.keep_texts()
        if not self.is_running:
            if not is_received and self.note == RECEIVED:
                self.note = self._fields["note"] = ""
                self._on_not_received(self)
            return
        if is_received and self.is_kept and not self.note:
            self.note = self._fields["note"] = RECEIVED
        self._give_up(OVER, self._keep_ms if self.is_kept or self.note == LONG else 0)

    def wait(self, seconds: float | None) -> None:
        self.keep_texts()
        if self.is_kept and not self.is_long:
            self._give_up(WAITING, -1 if seconds is None else max(1, round(seconds * 1_000)))
        else:
            self.end(is_received=False)

    def discard(self) -> None:
        self.lose(LOST)
        self._give_up(OVER, 0)

    def leave(self) -> None:
        """The process stops."""
        self.keep_texts()
        if self.has_begun:
            self._give_up(GONE, self._keep_ms)
        else:
            self.discard()

    # Calls of the log.

    @property
    def is_long(self) -> bool:
        return self.note == LONG

    def give_texts(self) -> bytes:
        """Return a frame of all that is to be written, if that is texts alone; else an empty one.

        It is empty too if Redis does not know that the turn runs. The frame counts as written, and
        is not pending any more. If Redis does not take it, call `take_back`.
        """
        texts = self._texts
        if self.has_others or self.note or not texts or not self.has_lease:
            return b""
        data = frame_of_texts(texts)
        length = len(data)
        size = self._size + length + FRAME_COST_BYTES - FRAME_HEAD_BYTES
        if length > FRAME_BYTES or size > self._turn_bytes:
            return b""
        self._texts = []
        self._size = size
        self._sizes.append(length)
        self.count += len(texts)
        self.frames_written += 1
        return data

    def take_back(self, data: bytes) -> None:
        """Redis may not have this frame of `give_texts`: it is to be written again."""
        if self.is_kept:
            self.count -= count_of(data)
            self.frames_written -= 1
            self._sizes.pop()
            self._frames.appendleft(data)
            self._add_pending(len(data))

    def batch(self) -> Batch:
        """Return what to write next, after `keep_texts`; until `confirm`, the same or more."""
        self._seal()
        frames: list[bytes] = []
        size = 0
        for data in self._frames:
            if size > _BATCH_BYTES or len(frames) == _BATCH_FRAMES:
                break
            frames.append(data)
            size += len(data)
        is_all = len(frames) == len(self._frames)
        count = self.count + sum(map(count_of, frames))
        fields = dict(self._fields) if is_all else {}
        ends = self._ends if is_all else ""
        base = self._forgettable(size) if self.is_long else self.base
        return Batch(self.frames_written, frames, count, fields, base, ends, self._kept_ms)

    def confirm(self, batch: Batch, readers: int) -> None:
        """Redis has this batch."""
        size = 0
        for data in batch.frames:
            self._frames.popleft()
            self._sizes.append(len(data))
            size += len(data)
        self._add_pending(-size)
        self.count = batch.count
        self.frames_written += len(batch.frames)
        for _ in range(batch.base - self.base):
            self._sizes.popleft()
        self.base = batch.base
        for name, value in batch.fields.items():
            if self._fields.get(name) == value:
                del self._fields[name]
        self.confirm_end(batch.ends)
        self.set_readers(readers)

    def confirm_end(self, ends: str) -> None:
        """Redis knows that the turn is in this state."""
        self.is_written = bool(ends)

    def confirm_lost(self, note: str) -> None:
        """Redis has forgotten the turn, and knows why."""
        if note == self.note:
            self._fields = {}

    def claim_without_frames(self) -> None:
        """Redis may know, or knows now, that the turn runs; it has nothing of it."""
        self.has_lease = True
        self.lose(LOST)
        self._fields = {"note": self.note}
        self._on_change(self)

    @property
    def has_more(self) -> bool:
        """Whether something is to be written."""
        return not self.is_written and bool(self._texts or self.has_others)

    @property
    def has_others(self) -> bool:
        """Whether something else than texts is to be written."""
        return bool(self._open_count or self._frames or self._fields or self._ends)

    @property
    def ends(self) -> tuple[str, int]:
        """As in a batch: the state in which the turn gives the chat up, and for how long."""
        return self._ends, self._kept_ms

    def lose(self, note: str) -> None:
        """Keep nothing of this turn from now on, and say why."""
        if self.is_kept:
            self.is_kept = False
            self.note = note
            self._texts = []
            self._frames.clear()
            self._open.clear()
            self._open_count = 0
            self._has_events = False
            self._add_pending(-self.pending_bytes)
            self._fields = {"note": note}
            if self._ends == WAITING:
                self._ends = OVER

    def set_readers(self, readers: int) -> None:
        """So many processes read the turn."""
        if readers != self.readers and self.is_running:
            self.readers = readers
            self.control.read_by(readers)
            if self.is_long and not readers:
                self.lose(LONG)

    # Inside.

    def _append(self, packed: bytes, count: int, *, has_events: bool) -> None:
        self._begin()
        if not self.is_kept or not self.is_running or not count:
            return
        size = len(packed)
        if len(self._open) + size > FRAME_BYTES:
            self._seal()
        if not self._open_count:
            self._size += FRAME_COST_BYTES
            size += FRAME_HEAD_BYTES
        if has_events:
            self._has_events = True
        self._open += packed
        self._open_count += count
        self._size += len(packed)
        self._add_pending(size)
        if self._size > self._turn_bytes:
            self._become_long()
        self._on_change(self)

    def _begin(self) -> None:
        if self.has_begun:
            return
        self.has_begun = True
        if not self.is_kept and self.is_running:  # Redis still has to drop the former turn
            self._fields = {"note": self.note}
            self._on_change(self)

    def _give_up(self, ends: str, kept_ms: int) -> None:
        if self.is_running:
            self.is_running = False
            self._ends, self._kept_ms = ends, kept_ms
            self._on_change(self)

    def _add_pending(self, size: int) -> None:
        self.pending_bytes += size
        self._on_held(self, size)

    def _seal(self) -> None:
        if not self._open_count:
            return
        data = frame(self._open, self._open_count)
        self._frames.append(data)
        self._open.clear()
        self._open_count = 0
        if self._has_events and self._question_ends.add(data):
            ends = list(self._question_ends.all())
            self._fields["closed"] = frame(b"".join(map(pack, ends)), len(ends))
        self._has_events = False

    def _become_long(self) -> None:
        """From here on the turn is written for those who read it already."""
        if not self.is_long:
            self.note = self._fields["note"] = LONG
            self._on_too_long()
        if not self.readers or self.pending_bytes > self._turn_bytes:
            self.lose(LONG)

    def _forgettable(self, size: int) -> int:
        """The index before which a long turn is forgotten, when `size` bytes more are written."""
        base = self.base
        size += sum(self._sizes)
        for each in self._sizes:
            if size <= self._turn_bytes:
                break
            size -= each
            base += 1
        return base
