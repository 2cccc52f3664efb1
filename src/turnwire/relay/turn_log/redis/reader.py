"""A reader of a turn in Redis: the frames that it has, and what it needs next."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.reader import LogConnection
from turnwire.relay.turn_log.redis.found import OVER, RUNNING, WAITING

READ_BYTES: Final = 262_144
"""A reader holds at most one frame more than that."""


class RedisReader:
    """The `FrameSource` of one reader. `on_need` is called when it needs frames."""

    def __init__(
        self,
        key: ChatKey,
        turn_id: str,
        opening: bytes,
        first: int,
        now: float,
        *,
        on_need: "Callable[[RedisReader], object]",
        on_close: "Callable[[RedisReader], object]",
    ) -> None:
        self.key = key
        self.turn_id = turn_id
        self.next_index = first
        """Of the first frame that it does not have."""
        self.connection: LogConnection | None = None
        self.seen_at = self.look_at = now
        """When Redis last said something of the turn, and when to ask next without a hint."""
        self._opening = opening
        self._frames: deque[bytes] = deque()
        self._has_news, self._has_later_news = True, False
        """Whether there may be more frames; whether there are since the read that is under way."""
        self._is_over = self._is_lost = False
        self._on_need = on_need
        self._on_close = on_close

    # Calls of the connection.

    def open_frame(self) -> Iterator[bytes | None]:
        yield self._opening

    def next_frame(self) -> bytes | None:
        data = self._frames.popleft() if self._frames else None
        if not self._frames:
            if self._has_news:
                self._on_need(self)
            elif data is None and self._is_lost and self.connection is not None:
                self.connection.leave(DisconnectReason.LINE_LOST)
        return data

    def close(self) -> None:
        self._on_close(self)

    # Calls of the readers.

    @property
    def is_done(self) -> bool:
        """Whether nothing more will come."""
        return self._is_over or self._is_lost

    def note_news(self) -> None:
        """There are new frames."""
        self._has_news = self._has_later_news = True
        if not self._frames:
            self._on_need(self)

    def begin_read(self) -> int:
        """A read begins. Returns how many bytes to read; 0: only whether the turn lives."""
        self._has_later_news = False
        return 0 if self._frames else READ_BYTES

    def take(self, reply: Sequence[Any], wanted_bytes: int) -> float:
        """Take a reply to `scripts.READ`. Of a bad shape, it is as if the turn were lost.

        Returns for how many seconds its process surely lives; 0: it does not run.
        """
        match reply:
            case [bytes(state), int(lives_ms), *frames] if set(map(type, frames)) <= {bytes}:
                self._take(state.decode(errors="replace"), lives_ms, frames, wanted_bytes)
                return lives_ms / 1_000
            case _:
                self.lose()
                return 0

    def lose(self) -> None:
        """Nothing more comes: after the frames that are here, the reader is told so."""
        self._is_lost = True
        self._has_news = False
        if self.connection is not None:
            self.connection.wake()

    def _take(self, state: str, lives_ms: int, frames: Sequence[bytes], wanted_bytes: int) -> None:
        self._frames += frames
        self.next_index += len(frames)
        is_all = wanted_bytes > 0 and sum(map(len, frames)) < wanted_bytes
        self._has_news = not is_all or self._has_later_news
        if is_all or not state:
            if state == OVER:
                self._is_over = True
            elif (
                not state or (state == RUNNING and not lives_ms) or state not in {RUNNING, WAITING}
            ):
                self.lose()
        if frames and self.connection is not None:
            self.connection.wake()
