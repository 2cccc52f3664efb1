"""One turn in the hands of a driver."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire_agent.host.writer import Extra, Writer
from turnwire_agent.journal.port import Effect, LeaseLostError
from turnwire_agent.light_event import LightEvent
from turnwire_agent.llm.transcript import Transcript
from turnwire_agent.session.deltas import Delta, TextAdded
from turnwire_agent.session.events import Event, Prompted
from turnwire_agent.session.running import RunningTurn
from turnwire_agent.tools.nesting import is_too_deep

_check: Final = msgspec.json.Decoder(Raw).decode


class HostTurn:
    """What `driver.Turn` promises, on a writer and the state of a session."""

    def __init__(
        self,
        session_id: str,
        running: RunningTurn,
        transcript: Transcript,
        *,
        writer: Writer,
        pending_bytes: int,
    ) -> None:
        self.session_id = session_id
        self.turn_id = running.turn_id
        self.epoch = writer.lease.epoch
        self.prompt: Prompted = running.prompt
        self.transcript = transcript
        self._running = running
        self._writer = writer
        self._pending_bytes = pending_bytes
        self._changed = LightEvent()
        self._over = False

    @property
    def events(self) -> Sequence[Event]:
        return self._running.events

    @property
    def parts(self) -> int:
        return len(self._running.parts)

    def add(self, delta: Delta) -> None:
        if not isinstance(delta, TextAdded):
            _check_json(delta)
        if not self._over:
            self._writer.add(self.turn_id, delta)

    async def drain(self) -> None:
        if self._writer.size > self._pending_bytes:
            await self._writer.room(self._pending_bytes)

    async def write(self, *events: Event, effects: Sequence[Effect] = ()) -> None:
        if self._over:
            raise LeaseLostError("the turn is over")
        for event in events:
            _check_json(event)
        await self._writer.write(events, Extra(effects=effects))

    async def changed(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    @property
    def was_notified(self) -> bool:
        """Whether a question was closed that the driver has not heard of."""
        return self._changed.is_set()

    def end(self) -> None:
        """Take the turn out of the driver's hands: from now on nothing of it is written."""
        self._over = True

    def notify(self) -> None:
        """Say that a question was closed."""
        self._changed.set()


def _check_json(added: Struct) -> None:
    """Refuse what a driver calls JSON and is none: the session could never be read again.

    Raises:
        DecodeError: it is none, or nested too deep.

    """
    for name in ("value", "input", "answer"):
        if isinstance(json := getattr(added, name, None), Raw):
            _check(json)
            if is_too_deep(bytes(json)):
                raise msgspec.DecodeError("it is nested too deep")
