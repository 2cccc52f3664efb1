"""What gives the answers: the loop over a model, a scripted brain, somebody else's agent.

The host owns the session: its queue, its sockets, its journal, stopping. A driver owns one turn at
a time, and says what is in it.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from turnwire_agent.journal.port import Effect
from turnwire_agent.llm.events import Usage
from turnwire_agent.llm.transcript import Transcript
from turnwire_agent.session.deltas import Delta
from turnwire_agent.session.events import Event, Prompted, Reason


class Ended(Struct, frozen=True, kw_only=True):
    """The turn is over. The host writes it."""

    reason: Reason = "end_turn"
    finish_reason: str = "stop"
    error: str | None = None
    """Fixed words for people, if the reason is `error`."""
    usage: Usage | None = None
    lost_usage: Usage | None = None


class Parked(Struct, frozen=True):
    """Nothing runs, and the turn waits for answers to its questions alone.

    `Driver.turn` is called again when one of them is closed, perhaps in another process.
    """


class Turn(Protocol):
    """One turn, as the host gives it to a driver."""

    @property
    def session_id(self) -> str:
        """The session, as the gateway calls it."""

    @property
    def turn_id(self) -> str:
        """The turn. All events of it have this id."""

    @property
    def epoch(self) -> int:
        """That of the lease: higher in each process that comes later."""

    @property
    def prompt(self) -> Prompted:
        """What was asked."""

    @property
    def transcript(self) -> Transcript:
        """All that was before, and the prompt as its last message."""

    @property
    def events(self) -> Sequence[Event]:
        """The committed events of this turn without what was streamed, oldest first.

        `TurnBegun` is the first. The list grows. More than one at the beginning: the turn was
        parked, or its process died (then the last is `TurnTakenOver`).
        """

    @property
    def parts(self) -> int:
        """How many parts the turn has, with all that was added so far."""

    def add(self, delta: Delta) -> None:
        """Say something. It is committed together with its neighbours, and then sent."""

    async def drain(self) -> None:
        """Wait while more is on its way to the journal than the memory of a turn allows."""

    async def write(self, *events: Event, effects: Sequence[Effect] = ()) -> None:
        """Write events, after all that was added before; return when they are committed.

        Raises:
            LeaseLostError: the turn is not this process's any more. Clean up, and end.
            KeyTakenError: see `journal.port`.

        """

    async def changed(self) -> None:
        """Wait for an event that the driver did not write: a question of the turn was closed.

        It returns at once if there was one since the last call.
        """


class Driver(Protocol):
    """Gives answers. One driver serves all sessions of a host."""

    async def turn(self, turn: Turn) -> Ended | Parked:
        """Give the answer to a prompt, or go on with it.

        A cancellation is a stop, or the end of the process: end what runs within a second and let
        it through; the host writes how the turn ended. An exception ends the turn as an error whose
        text no client sees.
        """
