"""The text messages and the reasoning messages of a run, as deltas and what separates them.

A run tells several messages, each with an id. They become blocks of one message of the client, in
the order in which they begin. Subagents may tell theirs at once. `TextMessages` and
`ReasoningMessages` return the events.
"""

from typing import Final

from turnwire.core.bounds import OPEN_BLOCKS_MAX, keep
from turnwire.core.events import Event, ReasoningDelta, TextDelta
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.open_blocks import OpenBlocks

MESSAGES_MAX: Final = 256
"""Most messages of one kind that are remembered by id."""

EARLIER_MAX: Final = 65_536
"""Most characters of reasoning that are remembered, to notice that it is told again."""

_SHOWN_ROLES: Final = frozenset({None, "", "assistant"})


class TextMessages:
    """The text of a run. `blocks` are also those of its reasoning."""

    __slots__ = ("_blocks", "_frame_stats", "_hidden", "_unended")

    def __init__(self, blocks: OpenBlocks, frame_stats: FrameStats) -> None:
        self._blocks = blocks
        self._unended: dict[str, None] = {}
        """Messages whose text has begun, and may go on."""
        self._hidden: dict[str, None] = {}
        """Messages of other roles than the assistant's: their text is not the answer."""
        self._frame_stats = frame_stats

    def start(self, message_id: str, role: str | None) -> list[Event]:
        """A message began. Nothing is shown before its text comes: it may have none."""
        if role not in _SHOWN_ROLES:
            keep(self._hidden, message_id, None, MESSAGES_MAX)
        return []

    def content(self, message_id: str, delta: str) -> list[Event]:
        if message_id in self._hidden:
            self._frame_stats.count_left_out("text of another role", len(delta))
            return []
        if not delta:
            return []
        keep(self._unended, message_id, None, MESSAGES_MAX)
        return [*self._blocks.write(TextDelta, message_id), TextDelta(delta)]

    def end(self, message_id: str) -> list[Event]:
        self._hidden.pop(message_id, None)
        self._unended.pop(message_id, None)
        return self._blocks.end(TextDelta, message_id)

    def may_go_on(self, message_id: str) -> bool:
        """Whether text of this message was told, and its end was not."""
        return message_id in self._unended


class ReasoningMessages:
    """The reasoning of a run, but not what repeats reasoning of the same round to the letter.

    Some agents tell it a second time, when the model's answer is complete. A message that begins
    like earlier reasoning is held back until it differs, or ends. `blocks` are also those of the
    text.
    """

    __slots__ = (
        "_blocks",
        "_current",
        "_earlier",
        "_earlier_chars",
        "_frame_stats",
        "_held",
        "_is_repeating",
        "_left",
        "_text",
    )

    def __init__(self, blocks: OpenBlocks, frame_stats: FrameStats) -> None:
        self._blocks = blocks
        self._current: str | None = None
        self._text = ""
        """The text of the current message; kept while it may be told again."""
        self._left: dict[str, str] = {}
        """The texts of other messages that were not ended, by id: each may go on."""
        self._held: list[str] = []
        self._is_repeating = False
        self._earlier: list[str] = []
        """The messages of this round."""
        self._earlier_chars = 0
        self._frame_stats = frame_stats

    def new_round(self) -> None:
        """A call has its result: what follows are other thoughts, even if in the same words."""
        self._earlier.clear()
        self._earlier_chars = 0
        self._left = dict.fromkeys(self._left, "")
        if not self._is_repeating:  # else it is compared as it goes on
            self._text = ""

    def content(self, message_id: str, delta: str) -> list[Event]:
        if not delta:
            return []
        events = [] if message_id == self._current else self._enter(message_id)
        if self._earlier_chars <= EARLIER_MAX:
            self._text += delta
            self._earlier_chars += len(delta)
        if self._is_repeating:
            self._held.append(delta)
            if any(text.startswith(self._text) for text in self._repeatable()):
                return events
            return events + self._release()
        return [*events, *self._tell(message_id, delta)]

    def end(self, message_id: str) -> list[Event]:
        self._left.pop(message_id, None)
        if message_id == self._current:
            return self.close()
        return self._blocks.end(ReasoningDelta, message_id)

    def close(self) -> list[Event]:
        """End the current message, if there is one."""
        message_id = self._current
        if message_id is None:
            return []
        return [*self._settle(), *self._blocks.end(ReasoningDelta, message_id)]

    @property
    def _is_repetition(self) -> bool:
        return self._is_repeating and self._text in self._repeatable()

    def _settle(self) -> list[Event]:
        """Tell what was held back, or drop it as a repetition. No message is current then."""
        events: list[Event] = []
        if self._is_repetition:
            self._frame_stats.doubled += len(self._held)
            self._held.clear()
        elif self._is_repeating:
            events = self._release()
        if self._text and self._text not in self._earlier:
            self._earlier.append(self._text)
        self._current, self._text, self._is_repeating = None, "", False
        return events

    def _enter(self, message_id: str) -> list[Event]:
        """Go on with another message, or begin it. The current one is left open."""
        if self._current is not None and not self._is_repetition:
            keep(self._left, self._current, self._text, OPEN_BLOCKS_MAX)
        events = self._settle()
        self._current = message_id
        so_far = self._left.pop(message_id, None)
        if so_far is None:
            self._is_repeating = bool(self._earlier) and self._earlier_chars <= EARLIER_MAX
        else:
            self._text = so_far
            self._earlier = [each for each in self._earlier if each != so_far]
        return events

    def _repeatable(self) -> list[str]:
        """What may be told again: each message of this round, and all of them as one."""
        return ["".join(self._earlier), *self._earlier]

    def _release(self) -> list[Event]:
        """The current message is no repetition: tell what was held back."""
        self._is_repeating = False
        held, self._held = "".join(self._held), []
        return self._tell(self._current or "", held) if held else []

    def _tell(self, message_id: str, text: str) -> list[Event]:
        return [*self._blocks.write(ReasoningDelta, message_id), ReasoningDelta(text)]
