"""Stopping the running turn, if the abort stops no other turn or prompt (page 5.5).

The `init` of R has the turn that runs and the prompts that wait; an abort would remove those
prompts. The `init` of A and V only says that the runner is busy, and V aborts every channel
unless the abort is for a thread. So on A and V the operation observes the frames for a moment,
and then decides.

Pages are sections of docs/wire/session-agent.md.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, assert_never

from turnwire.core.agent import NEVER
from turnwire.core.events import Reason
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import StopRequest
from turnwire.dialects.session_agent import commands, frames, init, questions
from turnwire.dialects.session_agent.frames import THREAD
from turnwire.dialects.session_agent.init import SessionState
from turnwire.dialects.session_agent.operation import Operation
from turnwire.dialects.session_agent.snapshots import Snapshots

OBSERVE_S: Final = 1.0
"""How long to observe which channel is at work, in seconds, if `init` does not say so."""

_IDLES_OF_ABORT: Final = 2
"""Idle statuses after an abort: the agent sends one at once, and one when its runner replies."""


class StopOperation(Operation):
    """Aborts the running turn, and waits for the signs that the turn is over (page 5.6)."""

    NO_VERDICT: ClassVar = "no_verdict"
    IDLE: ClassVar = "idle"

    def __init__(self, request: StopRequest) -> None:
        super().__init__(request)
        self.result: StopResult | Rejection | None = None
        self._requested_id = request.turn_id
        self._turn_id: str | None = None
        """The id of the turn of our channel, once a frame shows it."""
        self._echo_on_dispatch = True
        self._is_ours_seen = self._is_other_seen = False
        """Whether our channel, or another channel, was seen at work."""
        self._is_sent = False
        self._idle_count = 0

    def connection_lost(self) -> None:
        if self._is_sent:
            self._finish(self.NO_VERDICT)
        else:
            self._refuse(Rejection.SILENT)

    def _init_received(
        self, frame: frames.Init, state: SessionState, now: float
    ) -> Sequence[bytes]:
        self._echo_on_dispatch = state.echo_on_dispatch
        if not state.runner_busy or state.is_dead:
            self._nothing_runs(init.session(frame, state, self._ahead).entries)
            return ()
        if not state.echo_on_dispatch:
            session = init.session(frame, state, self._ahead)
            at_work = session.turn or session.prompt
            if at_work is not None:
                return self._stop_r(at_work, session, state, now)
            if state.prompts_queued:
                self._refuse(Rejection.SHARED)
                return ()
        self.deadline = now + OBSERVE_S
        return ()

    def _stop_r(
        self, at_work: frames.Snapshot, session: init.Session, state: SessionState, now: float
    ) -> Sequence[bytes]:
        if self._requested_id is None and at_work.channel != self.channel:
            self._nothing_runs(())
            return ()
        self._turn_id = None if session.turn is None else session.turn.id
        if self._requested_id not in {None, self._turn_id}:
            self._refuse(Rejection.OTHER_TURN)
        elif state.prompts_queued:
            self._refuse(Rejection.SHARED)
        else:
            return self._abort(now)
        return ()

    def _frame_received(self, frame: frames.Read, now: float) -> Sequence[bytes]:
        if self._handle_end(frame):
            return ()
        self._observe(frame)
        if self._is_sent:
            self._check_verdict(frame)
            return ()
        return self._decide(now, is_early=True)

    def _reply_missing(self, now: float) -> Sequence[bytes]:
        if not self._is_sent:
            return self._decide(now, is_early=False)
        self._finish(self.NO_VERDICT)
        return ()

    # Which channel is at work.

    def _observe(self, frame: frames.Read) -> None:
        if not isinstance(frame, frames.WorkSign):
            return
        match frame:
            case frames.ChunkDelta(message_id=turn_id):
                channel = frame.channel
            case frames.Updated(data) if init.is_turn(data):
                channel, turn_id = data.channel, data.id
            case frames.Message(data) if init.is_start(data):
                channel, turn_id = data.channel, data.id
            case frames.AgentStatus(status=status) if status != "idle":
                channel, turn_id = frame.channel, ""
            case frames.InteractivePrompt():
                channel, turn_id = questions.channel(frame), ""
            case frames.Question():
                channel, turn_id = frame.channel, ""
            case frames.Message() | frames.Updated() | frames.AgentStatus():
                return
            case _:
                assert_never(frame)
        if channel != self.channel:
            self._is_other_seen = True
            return
        self._is_ours_seen = True
        if self._turn_id is None or not self._is_sent:  # a turn that begins later was not stopped
            self._turn_id = turn_id or self._turn_id

    def _decide(self, now: float, *, is_early: bool) -> Sequence[bytes]:
        """Abort once the abort can hit no other turn, or if no other turn showed up in time."""
        has_both_ids = self._turn_id is not None and self._requested_id is not None
        if has_both_ids and self._turn_id != self._requested_id:
            self._refuse(Rejection.OTHER_TURN)
        elif self.channel.type == THREAD and self._is_ours_seen:
            return self._abort(now)  # V limits it to the thread, and A runs one turn at a time
        elif self._is_other_seen and not (is_early and self.channel.type == THREAD):
            self._refuse(Rejection.SHARED)
        elif not is_early:
            return self._abort(now)
        return ()

    def _abort(self, now: float) -> Sequence[bytes]:
        self._is_sent = True
        return self._send_and_wait([commands.abort(self.channel)], now)

    # The result.

    def _handle_end(self, frame: frames.Read) -> bool:
        """Set the result if the turn ended by itself or nothing runs. Return whether it is set."""
        if isinstance(frame, frames.Updated) and self._is_ours_to_stop(frame.data):
            finish = Snapshots().changes(frame.data).finish
            if finish is None:
                return False
            self._turn_id = frame.data.id
            self._finish(finish.value, stopped=finish is Reason.CANCELED)
            return True
        if (
            self._is_sent
            or not isinstance(frame, frames.Status)
            or frame.data.runner_busy is not False
        ):
            return False
        self._nothing_runs(())
        return True

    def _is_ours_to_stop(self, data: frames.Snapshot) -> bool:
        turn_id = self._requested_id or self._turn_id
        return data.channel == self.channel if turn_id is None else data.id == turn_id

    def _check_verdict(self, frame: frames.Read) -> None:
        if not isinstance(frame, frames.StopVerdict):
            return
        match frame:
            case frames.Status(data) if data.runner_busy is False:
                # R reports `aborted` after an abort; without it the turn ended by itself.
                if data.aborted or self._echo_on_dispatch:
                    self._stopped()
                else:
                    self._finish(Reason.END_TURN.value)
            case frames.Status(data) if data.prompt_dequeued:
                if data.named_channel in {None, self.channel}:
                    self._stopped()
            case frames.AgentStatus(status="idle") if frame.named_channel in {None, self.channel}:
                # The third idle status of V names no channel. Without a completion before it, no
                # turn was stopped.
                if self._idle_count >= _IDLES_OF_ABORT and frame.named_channel is None:
                    self._finish(self.IDLE)
                self._idle_count += 1
            case frames.AuditLog(entry) if entry.is_live and self._idle_count >= _IDLES_OF_ABORT:
                if entry.event_type == "agent.turn_complete":
                    self._stopped()
            case frames.Status() | frames.AgentStatus() | frames.AuditLog():
                pass
            case _:
                assert_never(frame)

    def _stopped(self) -> None:
        self._finish(Reason.CANCELED.value, stopped=True)

    def _nothing_runs(self, entries: Sequence[frames.Snapshot]) -> None:
        """Nothing runs: report how the requested turn ended, if an entry shows it."""
        for entry in entries:
            if entry.id == self._requested_id and entry.is_finished:
                finish = Snapshots().changes(entry).finish
                assert finish is not None
                self._finish(finish.value, stopped=finish is Reason.CANCELED)
                return
        self._finish(self.IDLE)

    def _finish(self, reason: str, *, stopped: bool = False) -> None:
        self.deadline = NEVER
        self.result = StopResult(stopped, self._turn_id or self._requested_id, reason)

    def _refuse(self, rejection: Rejection) -> None:
        self.deadline = NEVER
        self.result = rejection
