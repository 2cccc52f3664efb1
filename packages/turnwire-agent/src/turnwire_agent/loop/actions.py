"""What is next in a turn. Who executes them knows sockets, tasks and the clock."""

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire_agent.journal.port import Effect
from turnwire_agent.llm.events import Usage
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.transcript import File, Image, Outcome, Text, Transcript
from turnwire_agent.loop.calls import effects
from turnwire_agent.session.events import CallBegun, CallEnded, Event, Reason, StepBegun
from turnwire_agent.tools.contract import Tool


class Write(Struct, frozen=True):
    """Write these in one transaction, apply them, and ask again what is next."""

    events: tuple[Event, ...]
    effects: tuple[Effect, ...] = ()


class AskModel(Struct, frozen=True, kw_only=True):
    """Write `begun(…)`, then ask the model. How it answers is for `streaming.Attempt`."""

    turn_id: str
    step: int
    attempt: int
    model: Model
    transcript: Transcript
    """With registered names, for `prepare.prepare`."""
    names: tuple[tuple[str, str], ...] = ()
    """Name on the wire and registered name, where they differ."""
    used_ids: frozenset[str] = frozenset()
    """Ids of the calls of earlier answers."""
    retries_overflow: bool = False
    """Whether an answer that fills the window is lost, since a shorter transcript can be tried."""

    @property
    def made_ids(self) -> str:
        """Begins the ids of calls that the provider gives none."""
        return f"call-{self.step}-{self.attempt}"

    def begun(self, *, since: int, at: float) -> StepBegun:
        """Return what is written before the model is asked.

        Args:
            since: How many parts the turn has.
            at: Seconds since 1970.
        """
        return StepBegun(
            turn_id=self.turn_id,
            step=self.step,
            attempt=self.attempt,
            since=since,
            model=self.model.name,
            names=self.names,
            at=at,
        )


class RunCall(Struct, frozen=True, kw_only=True):
    """Write `begun(at)` with `effects`, run the tool, write `ended(…)` with `settled(…)`."""

    session_id: str
    turn_id: str
    call_id: str
    tool: Tool
    value: Any
    """What the tool is called with."""
    input: Raw
    key: str
    run: int = 0

    def __repr__(self) -> str:
        return f"RunCall({self.call_id!r}, run={self.run})"

    def begun(self, at: float) -> CallBegun:
        """Return the intent of the call. `at` is in seconds since 1970."""
        return CallBegun(
            turn_id=self.turn_id,
            call_id=self.call_id,
            tool=self.tool.name,
            key=self.key,
            effect=self.tool.effect.value,
            input=self.input,
            run=self.run,
            at=at,
        )

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What is written with the intent."""
        return effects.intent(self.session_id, self.begun(0.0))

    def ended(
        self,
        outcome: Outcome,
        content: tuple[Text | Image | File, ...] = (),
        value: Raw | UnsetType = UNSET,
        error: str | None = None,
    ) -> CallEnded:
        """Return the outcome of the call."""
        return CallEnded(
            turn_id=self.turn_id,
            call_id=self.call_id,
            tool=self.tool.name,
            outcome=outcome,
            content=content,
            value=value,
            error=error,
        )

    def settled(self, ended: CallEnded) -> tuple[Effect, ...]:
        """Return what is written with the outcome."""
        return effects.settled(self.session_id, self.begun(0.0), ended)


class End(Struct, frozen=True, kw_only=True):
    """Stop what is in hand, write `events` with `effects`; then the turn ends as the rest says."""

    events: tuple[Event, ...] = ()
    """They close what the turn leaves open."""
    effects: tuple[Effect, ...] = ()
    reason: Reason = "end_turn"
    finish_reason: str = "stop"
    error: str | None = None
    """Fixed words for people, if the reason is `error`."""
    usage: Usage | None = None
    lost_usage: Usage | None = None


class Compact(Struct, frozen=True, kw_only=True):
    """Have the transcript made shorter, and write `Compacted`."""

    transcript: Transcript
    otherwise: End
    """What is executed if there is no shorter one."""


class Park(Struct, frozen=True):
    """Let go of everything: the turn waits for people alone."""

    wake_at: float | None = None
    """When the first of the open questions expires, in seconds since 1970."""


Action = Write | AskModel | RunCall | End | Compact | Park


class Running(Struct, frozen=True):
    """What this process has in hand, from before its intent is written until its outcome is."""

    attempt: bool = False
    """A model is asked."""
    compacting: bool = False
    calls: frozenset[str] = frozenset()
    """Ids of calls."""
