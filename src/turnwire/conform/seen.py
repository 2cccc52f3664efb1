"""An agent protocol that notes what it is told, with times."""

import copy
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from turnwire.core.agent import AgentProtocol, Decoded
from turnwire.core.events import Event, TextDelta
from turnwire.core.requests import QuestionReply


class TimedEvent(Struct, frozen=True):
    """An event of our turn, and when it came, in seconds on the loop's clock."""

    at: float
    event: Event


class SeenProtocol:
    """Passes all on to another protocol, and keeps the events that it returns."""

    def __init__(self, protocol: AgentProtocol) -> None:
        self.timed_events: list[TimedEvent] = []
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        """Return what the other protocol has: its state, and the methods that return no events."""
        return getattr(self._protocol, name)

    def abort_frames(self) -> Sequence[bytes]:
        """Return the frames that would abort the turn now.

        A copy is asked: a protocol that has given its abort takes any verdict for "canceled".
        """
        return copy.copy(self._protocol).abort()

    def connection_opened(self, now: float) -> Decoded:
        return self._noted(self._protocol.connection_opened(now), now)

    def connection_lost(self, now: float) -> Decoded | None:
        decoded = self._protocol.connection_lost(now)
        return None if decoded is None else self._noted(decoded, now)

    def reply(self, reply: QuestionReply, user_id: str, now: float) -> Decoded:
        return self._noted(self._protocol.reply(reply, user_id, now), now)

    def tick(self, now: float) -> Decoded:
        return self._noted(self._protocol.tick(now), now)

    def begin_stop(self, now: float) -> Decoded | None:
        decoded = self._protocol.begin_stop(now)
        return None if decoded is None else self._noted(decoded, now)

    def receive_frame(self, frame: bytes, now: float) -> Decoded | str | None:
        decoded = self._protocol.receive_frame(frame, now)
        if isinstance(decoded, Decoded):
            return self._noted(decoded, now)
        if decoded:
            self.timed_events.append(TimedEvent(now, TextDelta(decoded)))
        return decoded

    def _noted(self, decoded: Decoded, now: float) -> Decoded:
        events: Sequence[Event] = decoded.events
        self.timed_events += [TimedEvent(now, event) for event in events]
        return decoded
