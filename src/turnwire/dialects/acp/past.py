"""What a session tells of its past, as the entries of a history.

The wire has no ids of prompts and turns, so an entry is named by its place: `prompt-1`, `turn-2`.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from turnwire.core import safe_json
from turnwire.core.body.attachments import Attachment
from turnwire.core.events import Event, FilePart, Reason, TurnFinished
from turnwire.core.operations import HistoryPrompt, HistoryTurn
from turnwire.core.wire import lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import blocks, frames
from turnwire.dialects.acp.frames import Update, UserChunk
from turnwire.dialects.acp.progress import Progress

BYTES_MAX: Final = 16_777_216
"""Most bytes of messages whose entries are kept. Of more, the oldest entries are forgotten, and the
end of an entry that is longer than this alone is left out."""

TOO_LONG: Final = "end of a message that is too long"


class _Prompt(Struct):
    place: int
    message_id: str | None
    texts: list[str]
    files: list[Attachment]
    size: int = 0

    @property
    def id(self) -> str:
        return f"prompt-{self.place}"

    def entry(self) -> HistoryPrompt:
        text = safe_json.join_surrogates("".join(self.texts))
        return HistoryPrompt(self.id, text, tuple(self.files))


class _Turn(Struct):
    place: int
    events: list[Event]
    size: int = 0

    @property
    def id(self) -> str:
        return f"turn-{self.place}"

    def entry(self) -> HistoryTurn:
        return HistoryTurn(self.id, [*self.events, TurnFinished(reason=Reason.END_TURN)])


class Past:
    """The last `limit` entries, of those before the one with the id `before`."""

    def __init__(self, limit: int, before: str | None, frame_stats: FrameStats) -> None:
        self._limit = limit
        self._before = before
        self._has_end = False
        """Whether the entry `before` was told. What follows it is not asked for."""
        self._frame_stats = frame_stats
        self._kept: deque[_Prompt | _Turn] = deque()
        self._size = 0
        self._last: _Prompt | _Turn | None = None
        self._progress = Progress(frame_stats)

    def add(self, update: Update, text: str | None, size: int) -> None:
        """Take an update. `text`: as `Progress.take` has it; `size`: that of its message."""
        if isinstance(update, UserChunk):
            self._add_prompt(update, text, size)
            return
        turn = self._last if isinstance(self._last, _Turn) else None
        if turn is None:
            self._progress = Progress(self._frame_stats)
        new = self._progress.take(update, text)
        if not new:
            return
        if turn is None:
            turn = _Turn(self._next_place, [])
            self._begin(turn)
        if self._has_room(turn, size):
            turn.events += new

    def entries(self, *, without_last_turn: bool) -> Sequence[HistoryPrompt | HistoryTurn]:
        """`without_last_turn`: the answer at the end is not one of them."""
        if self._before is not None and not self._has_end:
            return []
        kept = list(self._kept)
        if without_last_turn and kept and kept[-1] is self._last and isinstance(kept[-1], _Turn):
            kept.pop()
        return [each.entry() for each in kept[-self._limit :]]

    @property
    def _next_place(self) -> int:
        return 1 if self._last is None else self._last.place + 1

    def _add_prompt(self, chunk: UserChunk, torn: str | None, size: int) -> None:
        prompt = self._last if isinstance(self._last, _Prompt) else None
        if prompt is None or prompt.message_id != chunk.message_id:
            prompt = _Prompt(self._next_place, chunk.message_id, [], [])
            self._begin(prompt)
        block = lenient.field(frames.block, chunk.content)
        if block is None:
            self._frame_stats.count_malformed(bytes(chunk.content))
        elif self._has_room(prompt, size):
            if block.type == "text":
                prompt.texts.append(torn or block.text or "")
                return
            file = blocks.shown(block.type, chunk.content)
            if isinstance(file, FilePart):
                prompt.files.append(Attachment(mime=file.mime, url=file.url))
            else:
                self._frame_stats.count_left_out("block of content", len(chunk.content))

    def _begin(self, entry: _Prompt | _Turn) -> None:
        self._last = entry
        self._has_end = self._has_end or entry.id == self._before
        if self._has_end:
            return
        self._kept.append(entry)
        if len(self._kept) > self._limit + 1:  # the last one may be left out
            self._forget_oldest()

    def _has_room(self, entry: _Prompt | _Turn, size: int) -> bool:
        """Count a message of an entry, and make room for it."""
        if not self._kept or self._kept[-1] is not entry:
            return False  # it is not asked for
        if entry.size + size > BYTES_MAX:
            self._frame_stats.count_left_out(TOO_LONG, size)
            return False
        entry.size += size
        self._size += size
        while self._size > BYTES_MAX:
            self._forget_oldest()
        return True

    def _forget_oldest(self) -> None:
        self._size -= self._kept.popleft().size
