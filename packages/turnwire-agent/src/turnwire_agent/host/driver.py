"""What gives the answers: the loop over a model, a scripted brain, somebody else's agent.

The host owns the session: its queue, its sockets, its journal, stopping. A driver owns one turn at
a time, and says what is in it.
"""

import enum
from collections.abc import Sequence
from typing import Protocol

from turnwire_agent.journal.port import Effect
from turnwire_agent.llm.transcript import Transcript
from turnwire_agent.session.events import Delta, Event, Prompted


class Verdict(enum.Enum):
    """What became of a turn that a driver had in its hands."""

    ENDED = "ended"
    """Its `TurnEnded` is written."""
    PARKED = "parked"
    """Nothing runs, and it waits for answers to its questions alone. `turn` is called again when
    one of them is closed, perhaps in another process."""


class Turn(Protocol):
    """One turn, as the host gives it to a driver."""

    @property
    def session_id(self) -> str: ...

    @property
    def turn_id(self) -> str: ...

    @property
    def epoch(self) -> int:
        """That of the lease: higher in each process that comes later."""

    @property
    def prompt(self) -> Prompted: ...

    @property
    def transcript(self) -> Transcript:
        """All that was before, and the prompt as its last message."""

    @property
    def events(self) -> Sequence[Event]:
        """The events of this turn that are committed, oldest first, `TurnBegun` the first of them.

        It grows. More than `TurnBegun` at the beginning: the turn was parked, or its process died
        (then the last event is `TurnTakenOver`).
        """

    def add(self, delta: Delta) -> None:
        """Say something. It is committed with what is being said at the same time, then told."""

    async def drain(self) -> None:
        """Wait while too much is on its way to the journal: what it does not keep up with."""

    async def write(self, *events: Event, effects: Sequence[Effect] = ()) -> None:
        """Write events, after all that was added before; return when they are committed.

        Raises:
            LeaseLostError: another process has the turn. Clean up, and say nothing more.
            KeyTakenError: see `journal.port`.

        """

    async def changed(self) -> None:
        """Wait for an event that the driver did not write: a question of the turn was closed."""


class Driver(Protocol):
    """Gives answers. One driver serves all sessions of a host."""

    async def turn(self, turn: Turn) -> Verdict:
        """Give the answer to a prompt, or go on with it.

        A cancellation is a stop, or the end of the process: end what runs within a second and let
        it through; the host writes how the turn ended. An exception ends the turn as an error whose
        text no client sees.
        """
