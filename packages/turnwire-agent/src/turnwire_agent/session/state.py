"""What a session is now: the fold of the events in its journal.

`SessionState.apply` takes events in the order of the journal. It never fails: an event of a turn
that does not run, or of a prompt that does not wait, changes nothing. The detail rows of turns that
are over may be missing; the state is the same without them.
"""

from turnwire_agent.session.events import (
    Event,
    Prompted,
    PromptRepeated,
    PromptTakenBack,
    Streamed,
    TurnBegun,
    TurnEnded,
)
from turnwire_agent.session.files import bytes_of
from turnwire_agent.session.history import Exchange, History
from turnwire_agent.session.parts import closed
from turnwire_agent.session.running import RunningTurn
from turnwire_agent.session.turn_messages import messages_of

__all__ = ["RunningTurn", "SessionState"]


class SessionState:
    """A session. One turn runs at a time; the other prompts wait in their order."""

    __slots__ = ("history", "owner", "running")

    def __init__(self) -> None:
        self.history = History()
        self.running: RunningTurn | None = None
        self.owner: str | None = None
        """The first user who sent a prompt."""

    def is_of(self, user_id: str | None) -> bool:
        """Whether the session is this user's, or nobody's yet."""
        return self.owner in {None, user_id}

    @property
    def queue(self) -> list[Prompted]:
        """The prompts that wait, the next one first."""
        return [exchange.prompt for exchange in self.history.queue]

    def has_room(self, prompt: Prompted, *, prompts: int, size: int) -> bool:
        """Whether a prompt may wait with those that do.

        Args:
            prompt: One that is not in the session yet.
            prompts: Most that may wait.
            size: Most bytes that they may have together. One alone may have more.

        """
        queue = self.queue
        if not queue:
            return prompts > 0
        return len(queue) < prompts and sum(map(bytes_of, (*queue, prompt))) <= size

    def waiting(self, prompt_id: str) -> Prompted | None:
        """The prompt that waits and has this prompt id."""
        among = (each for each in self.history.queue if prompt_id in each.prompt_ids)
        return next((each.prompt for each in among), None)

    def same_message(self, prompt: Prompted) -> Exchange | None:
        """The exchange that answers this message already: the same one waits, runs or ended well.

        Args:
            prompt: One that is not in the session yet. A client sent its message again.

        """
        return self.history.same_message(prompt)

    def apply(self, event: Event) -> None:
        """Take the next event of the session."""
        if isinstance(event, Streamed):  # nearly all of them
            running = self.running
            if running is not None and running.turn_id == event.turn_id:
                running.stream(event.deltas)
            return
        match event:
            case Prompted():
                self.history.add(event)
                self.owner = self.owner or event.user_id
            case PromptTakenBack(entry_id):
                if (exchange := self.history.waiting(entry_id)) is not None:
                    self.history.remove(exchange)
            case PromptRepeated(entry_id, prompt_id):
                self.history.repeat(entry_id, prompt_id)
            case TurnBegun(entry_id=entry_id):
                exchange = self.history.waiting(entry_id)
                if self.running is None and exchange is not None:
                    self.history.begin(exchange, event)
                    self.running = RunningTurn(exchange, event)
            case TurnEnded():
                if (running := self._runs(event.turn_id)) is not None:
                    self._end(running, event)
            case _:
                if (running := self._runs(event.turn_id)) is not None:
                    running.apply(event)

    def _runs(self, turn_id: str) -> RunningTurn | None:
        running = self.running
        return running if running is not None and running.turn_id == turn_id else None

    def _end(self, running: RunningTurn, ended: TurnEnded) -> None:
        parts, messages = ended.parts, ended.messages
        # A journal that is read without its details has these here alone.
        if not parts and not messages:
            parts = running.parts_now()
            messages = messages_of(running.events, closed(parts, ended.reason))
        self.history.end(running.exchange, ended, closed(parts, ended.reason), messages)
        self.running = None
