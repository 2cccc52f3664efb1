"""The text messages and the reasoning messages of a run, as deltas and breaks between them.

A run tells several messages, each with an id. They become blocks of one message of the client, in
the order in which their text comes. `TextMessages` and `ReasoningMessages` return the events.
"""

from typing import Final

from turnwire.core.bounds import keep
from turnwire.core.events import Event, ReasoningDelta, TextBreak, TextDelta
from turnwire.core.wire.frame_stats import FrameStats

MESSAGES_MAX: Final = 256
"""Most messages of one kind that are remembered by id."""

EARLIER_MAX: Final = 65_536
"""Most characters of reasoning that are remembered, to notice that it is told again."""

_SHOWN_ROLES: Final = frozenset({None, "", "assistant"})


class TextMessages:
    """The text of a run. `current` is the id of the message that the last delta belongs to."""

    def __init__(self, frame_stats: FrameStats) -> None:
        self.current: str | None = None
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
        if message_id == self.current:
            return [TextDelta(delta)]
        is_first, self.current = self.current is None, message_id
        return [TextDelta(delta)] if is_first else [TextBreak(), TextDelta(delta)]

    def end(self, message_id: str) -> list[Event]:
        self._hidden.pop(message_id, None)
        if message_id != self.current:
            return []
        self.current = None
        return [TextBreak()]


class ReasoningMessages:
    """The reasoning of a run, but not what repeats reasoning of the same round to the letter.

    Some agents tell it a second time, when the model's answer is complete. A message that begins
    like earlier reasoning is held back until it differs, or ends.
    """

    def __init__(self, frame_stats: FrameStats) -> None:
        self._current: str | None = None
        self._text = ""
        """The text of the current message; kept while it may be told again."""
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

    def content(self, message_id: str, delta: str) -> list[Event]:
        if not delta:
            return []
        events = [] if message_id == self._current else self._begin(message_id)
        if self._earlier_chars <= EARLIER_MAX:
            self._text += delta
            self._earlier_chars += len(delta)
        if self._is_repeating:
            self._held.append(delta)
            if any(text.startswith(self._text) for text in self._repeatable()):
                return events
            return events + self._release()
        return [*events, ReasoningDelta(delta)]

    def end(self, message_id: str) -> list[Event]:
        return self.close() if message_id == self._current else []

    def close(self) -> list[Event]:
        """End the current message, if there is one."""
        if self._current is None:
            return []
        events: list[Event] = [TextBreak()]
        if self._is_repeating and self._text in self._repeatable():
            self._frame_stats.doubled += len(self._held)
            self._held.clear()
            events = []
        elif self._is_repeating:
            events = [*self._release(), TextBreak()]
        if self._text and self._text not in self._earlier:
            self._earlier.append(self._text)
        self._current, self._text, self._is_repeating = None, "", False
        return events

    def _begin(self, message_id: str) -> list[Event]:
        events = self.close()
        self._current = message_id
        self._is_repeating = bool(self._earlier) and self._earlier_chars <= EARLIER_MAX
        return events

    def _repeatable(self) -> list[str]:
        """What may be told again: each message of this round, and all of them as one."""
        return ["".join(self._earlier), *self._earlier]

    def _release(self) -> list[Event]:
        """The current message is no repetition: tell what was held back."""
        self._is_repeating = False
        held, self._held = "".join(self._held), []
        return [ReasoningDelta(held)] if held else []
