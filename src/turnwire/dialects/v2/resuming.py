"""Following a turn that somebody asked for before: from its hydration, and on live.

`init` comes before all other frames and holds what was told so far, so that
nothing lies between the two and nothing is told in both.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Raw

from turnwire.core import events
from turnwire.core.dialect import NEVER, Look
from turnwire.core.events import Event, Told
from turnwire.core.refusal import Refusal
from turnwire.core.room import Seat
from turnwire.dialects.v2 import hydration
from turnwire.dialects.v2.frames import InitData
from turnwire.dialects.v2.wire import Conversation

_TAKEN_MAX: Final = 1_000
"""Prompts whose ids are kept while the turn goes on under others: the newest."""


class Resuming(Conversation):
    """Follows the turn that runs or waits on a channel. It never aborts."""

    def __init__(self, look: Look, seat: Seat) -> None:
        super().__init__((look.channel_type, look.channel_id), seat)
        self.committed = False
        self._refused = False
        self._look = look
        self._taken: frozenset[str] = frozenset()
        """Ids that clients gave their prompts."""
        self._asker: str | None = None

    def open(self, now: float) -> Sequence[Event]:
        self.deadline = now + self._look.init_s
        return ()

    def tick(self, now: float) -> Sequence[Event]:
        return () if now < self.deadline else self._refuse(self._unseen())

    def hear(self, frame: bytes, now: float) -> Told:
        told = super().hear(frame, now)
        # What comes before the hydration is part of it.
        return told if self.committed or self._refused else ()

    def _init(self, data: InitData, session: Raw) -> Sequence[Event]:
        if self.committed:
            return ()
        known = list(self._entries(session))
        self._greeted(data, known)
        self.deadline = NEVER
        entries = [e for e in known if e.channel == self.channel]
        running = _running(data, filter(self._may_be_ours, entries))
        self._taken = hydration.client_ids(entries[-_TAKEN_MAX:])
        if running is not None:
            self._asker = hydration.asker(running, entries)
            told = self._found(running)
        else:
            waiting = hydration.waiting(known, data.prompts_queued)
            told = self._idle(next(filter(self._may_be_ours, waiting), None))
        if isinstance(told, Refusal):
            return self._refuse(told)
        self.committed = True
        if running is not None:
            self._whose.follows(running.id, running.prompt_id)
            self._asked.over(running.id)
        elif data.runner_busy and not data.running_turn_id:
            self._whose.busy(None)
        return told

    def _message_id(self, turn_id: str) -> str:
        return hydration.message_id(turn_id, self._taken)

    def _may_be_ours(self, entry: hydration.Entry) -> bool:
        asked = self._look.prompt_id
        is_named = asked is None or entry.prompt_id == asked
        is_alone = entry.prompt_id is None and not self._seat.apart
        return (is_named or is_alone) and entry.channel == self.channel

    def _unseen(self) -> Refusal:
        """No hydration came: from such an agent nothing can be resumed."""
        return Refusal.NOTHING

    def _idle(self, waiting: hydration.Entry | None) -> Sequence[Event] | Refusal:
        """No turn runs; this prompt waits."""
        if waiting is None:
            return Refusal.NOTHING
        self._whose.awaits(waiting.prompt_id)
        return [events.Alive()]

    def _found(self, running: hydration.Entry) -> Sequence[Event] | Refusal:
        """What to tell of the turn that runs."""
        return [
            events.TurnStarted(self._message_id(running.id)),
            *self._noted(hydration.told(running)),
        ]

    def _noted(self, told: Iterable[Event]) -> Iterator[Event]:
        """Keep the questions in mind, whose end need not name their turn."""
        for event in told:
            match event:
                case events.Question(question_id):
                    self._asked.ours(question_id)
                case _:
                    pass
            yield event

    def _refuse(self, why: Refusal) -> Sequence[Event]:
        self._refused = True
        return [events.Refused(why)]


def _running(data: InitData, entries: Iterable[hydration.Entry]) -> hydration.Entry | None:
    named = data.running_turn_id
    if not named and not data.runner_busy:
        return None
    newest_first = reversed(list(entries))
    return next((e for e in newest_first if named in {None, e.id} and e.is_open), None)
