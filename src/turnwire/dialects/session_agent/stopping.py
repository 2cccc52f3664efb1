"""Stopping the turn that runs, where that stops no other (page 5.5).

R's `init` says what runs, and who waits: an abort would sweep their prompts
away. A and V say that the runner is busy and not with what, and V aborts every
channel unless it is asked on a thread: so what shows itself within a moment
decides.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from turnwire.core.dialect import NEVER
from turnwire.core.errand import Receipt, Stop
from turnwire.core.events import Reason
from turnwire.core.refusal import Refusal
from turnwire.dialects.session_agent import asking, hydration, outgoing, wire
from turnwire.dialects.session_agent.channel import THREAD
from turnwire.dialects.session_agent.errands import Errand
from turnwire.dialects.session_agent.hello import Hello
from turnwire.dialects.session_agent.snapshot import Snapshots

LOOK_S: Final = 1.0
"""How long to look who is at work, where `init` does not say it."""

_ACKNOWLEDGED: Final = 2
"""Idle statuses after an abort: the agent tells one at once, and one for its runner's answer."""


class Stopping(Errand):
    """Aborts the running turn, and waits for the signs that it is over (page 5.6)."""

    UNSAID: ClassVar = "no_verdict"
    IDLE: ClassVar = "idle"

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop)
        self.result: Receipt | Refusal | None = None
        self._named = stop.turn_id
        self._turn_id: str | None = None
        """The turn of our channel, once it was seen."""
        self._defers = True
        self._is_ours = self._is_anothers = False
        """Who was seen at work: our channel, another one."""
        self._is_sent = False
        self._idles = 0

    def left(self) -> None:
        if self._is_sent:
            self._receipt(self.UNSAID)
        else:
            self._refuse(Refusal.SILENT)

    def _greeted(self, init: wire.Init, said: Hello, now: float) -> Sequence[bytes]:
        self._defers = said.defers
        if not said.runner_busy or said.is_dead:
            self._idle(hydration.session(init, said, self._ahead).entries)
            return ()
        if not said.defers:
            session = hydration.session(init, said, self._ahead)
            at_work = session.turn or session.prompt
            if at_work is not None:
                return self._stop_r(at_work, session, said, now)
            if said.prompts_queued:
                self._refuse(Refusal.UNHARMED)
                return ()
        self.deadline = now + LOOK_S
        return ()

    def _stop_r(
        self, at_work: wire.Snapshot, session: hydration.Session, said: Hello, now: float
    ) -> Sequence[bytes]:
        if self._named is None and at_work.channel != self.channel:
            self._idle(())
            return ()
        self._turn_id = None if session.turn is None else session.turn.id
        if self._named not in {None, self._turn_id}:
            self._refuse(Refusal.OTHER_TURN)
        elif said.prompts_queued:
            self._refuse(Refusal.UNHARMED)
        else:
            return self._abort(now)
        return ()

    def _heard(self, heard: wire.Read, now: float) -> Sequence[bytes]:
        if self._ended(heard):
            return ()
        self._notice(heard)
        if self._is_sent:
            self._verdict(heard)
            return ()
        return self._decide(now, in_time=True)

    def _late(self, now: float) -> Sequence[bytes]:
        if not self._is_sent:
            return self._decide(now, in_time=False)
        self._receipt(self.UNSAID)
        return ()

    # Who is at work.

    def _notice(self, heard: wire.Read) -> None:
        match heard:
            case wire.ChunkDelta(message_id=turn_id):
                its = heard.channel
            case wire.Updated(data) if hydration.is_turn(data):
                its, turn_id = data.channel, data.id
            case wire.Message(data) if hydration.is_start(data):
                its, turn_id = data.channel, data.id
            case wire.AgentStatus(status=status) if status != "idle":
                its, turn_id = heard.channel, ""
            case wire.InteractivePrompt():
                its, turn_id = asking.channel(heard), ""
            case wire.Question():
                its, turn_id = heard.channel, ""
            case _:
                return
        if its != self.channel:
            self._is_anothers = True
            return
        self._is_ours = True
        if self._turn_id is None or not self._is_sent:  # what begins later was not stopped
            self._turn_id = turn_id or self._turn_id

    def _decide(self, now: float, *, in_time: bool) -> Sequence[bytes]:
        """Abort as soon as that is known to harm nobody, or when nothing showed that it would."""
        known = self._turn_id is not None and self._named is not None
        if known and self._turn_id != self._named:
            self._refuse(Refusal.OTHER_TURN)
        elif self.channel[0] == THREAD and self._is_ours:
            return self._abort(now)  # scoped on V; and A runs no other meanwhile
        elif self._is_anothers and not (in_time and self.channel[0] == THREAD):
            self._refuse(Refusal.UNHARMED)
        elif not in_time:
            return self._abort(now)
        return ()

    def _abort(self, now: float) -> Sequence[bytes]:
        self._is_sent = True
        return self._tell(outgoing.abort(self.channel), now)

    # What became of it.

    def _ended(self, heard: wire.Read) -> bool:
        """Whether the turn came to its end by itself, or nothing runs at all."""
        match heard:
            case wire.Updated(data) if self._is_ours_to_stop(data):
                finish = Snapshots().news(data).finish
                if finish is None:
                    return False
                self._turn_id = data.id
                self._receipt(finish.value, stopped=finish is Reason.CANCELED)
                return True
            case wire.Status(data) if data.runner_busy is False and not self._is_sent:
                self._idle(())
                return True
            case _:
                return False

    def _is_ours_to_stop(self, data: wire.Snapshot) -> bool:
        turn_id = self._named or self._turn_id
        return data.channel == self.channel if turn_id is None else data.id == turn_id

    def _verdict(self, heard: wire.Read) -> None:
        match heard:
            case wire.Status(data) if data.runner_busy is False:
                # R says `aborted` of an abort; without it the turn was over by itself.
                if data.aborted or self._defers:
                    self._stopped()
                else:
                    self._receipt(Reason.END_TURN.value)
            case wire.Status(data) if data.prompt_dequeued:
                if data.named in {None, self.channel}:
                    self._stopped()
            case wire.AgentStatus(status="idle") if heard.named in {None, self.channel}:
                # V's third is of no channel: without a completion before it, nothing was stopped.
                if self._idles >= _ACKNOWLEDGED and heard.named is None:
                    self._receipt(self.IDLE)
                self._idles += 1
            case wire.AuditLog(entry) if entry.is_live and self._idles >= _ACKNOWLEDGED:
                if entry.event_type == "agent.turn_complete":
                    self._stopped()
            case _:
                pass

    def _stopped(self) -> None:
        self._receipt(Reason.CANCELED.value, stopped=True)

    def _idle(self, entries: Sequence[wire.Snapshot]) -> None:
        """Nothing runs: how the named turn ended, if that is known."""
        for entry in entries:
            if entry.id == self._named and entry.is_finished:
                finish = Snapshots().news(entry).finish
                assert finish is not None
                self._receipt(finish.value, stopped=finish is Reason.CANCELED)
                return
        self._receipt(self.IDLE)

    def _receipt(self, reason: str, *, stopped: bool = False) -> None:
        self.deadline = NEVER
        self.result = Receipt(stopped, self._turn_id or self._named, reason)

    def _refuse(self, why: Refusal) -> None:
        self.deadline = NEVER
        self.result = why
