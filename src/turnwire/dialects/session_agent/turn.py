"""One prompt on one `session-agent` connection: frames and times in, events of our turn out.

`TurnProtocol` dispatches each frame by its type. `binding` decides which turn is ours;
`progress` handles the frames of our turn and its end.

Pages are sections of docs/wire/session-agent.md.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias, assert_never

from turnwire.core import events, safe_json
from turnwire.core.agent import ALIVE, NEVER, AbortScope, Decoded, OneConnection
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Reason
from turnwire.core.rejection import Rejection
from turnwire.core.requests import PromptRequest
from turnwire.core.session_group import Member
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.schema import tag_of
from turnwire.dialects.session_agent import commands, frames, init, progress, questions
from turnwire.dialects.session_agent.binding import TurnBinding
from turnwire.dialects.session_agent.binding.transitions import Stage
from turnwire.dialects.session_agent.frames import ALLOWED
from turnwire.dialects.session_agent.init import DEAD, session_state
from turnwire.dialects.session_agent.progress import TurnProgress

PING_S: Final = 30.0
"""Time between two `ping`s, in seconds (page 8)."""

RESPONSE_S: Final = 30.0
"""Longest wait for `init`, and then for the echo of our prompt, in seconds."""

_SLASH: Final = re.compile(r"/(?:status|sessions|clear|stop|refresh|help)")
"""Commands that A and V run themselves, without a prompt to the runner (page 3)."""

_Handler: TypeAlias = Callable[[frames.Read, float], Decoded | None]


class TurnProtocol(OneConnection):
    """The `core.agent.AgentProtocol` of one prompt."""

    def __init__(self, request: PromptRequest, member: Member) -> None:
        self.frame_stats = FrameStats()
        self._request = request
        self._binding = TurnBinding(request, member)
        self._member = member
        self._progress = TurnProgress(self._binding, self.frame_stats)
        self._ping_at = self._response_deadline = NEVER
        self._has_joined = self._has_returned = False
        """Whether the agent reported our own socket as joined; whether our user came back."""
        self._pings = self._pongs = 0
        self._current_after_pong = 0
        """Pongs to wait for until received frames are current again."""
        self._echo_pong = 0
        """The number of the pong by which the agent has echoed our prompt."""

    @property
    def prompt_id(self) -> str | None:
        """The agent's id of our prompt, once the echo has arrived."""
        return self._binding.prompt_id

    @property
    def accepted(self) -> bool:
        return self._binding.stage not in {Stage.AWAITING_INIT, Stage.AWAITING_LOCK}

    @property
    def queued(self) -> bool:
        return self._binding.is_queued

    @property
    def has_other_watchers(self) -> bool:
        return self._has_returned or self._member.has_other_watchers

    def client_detached(self) -> None:
        self._member.client_detached(self._request.user_id)

    def unwatched(self) -> None:
        self._member.unwatched()

    def mark_stale(self) -> None:
        """Distrust the state until the pong of a new ping, since an abort names no turn here."""
        self._current_after_pong = self._pings + 1
        self._ping_at = -NEVER

    @property
    def deadline(self) -> float:
        if self._binding.stage is Stage.AWAITING_LOCK and self._member.acquire(
            self._request.user_id
        ):
            return -NEVER
        if self._binding.stage is Stage.OVER:
            return NEVER
        return min(self._ping_at, self._response_deadline, self._progress.detector.deadline)

    @property
    def abort_scope(self) -> AbortScope:
        abort_scope = self._binding.abort_scope
        # If the turn may be over already, an abort would hit the next one (page 5.5, "Race").
        may_be_over = (
            self._progress.detector.deadline < NEVER or self._pongs < self._current_after_pong
        )
        is_suspect = abort_scope is AbortScope.OURS and may_be_over
        return AbortScope.SHARED if is_suspect else abort_scope

    def connect_request(self) -> ConnectRequest:
        return commands.CONNECT

    def connection_opened(self, now: float) -> Decoded:
        """Send nothing before `init`: the session may be dead (page 6, step 1)."""
        self._ping_at = now + PING_S
        self._response_deadline = now + RESPONSE_S
        return Decoded()

    def abort(self) -> Sequence[bytes]:
        is_ours = self.abort_scope is AbortScope.OURS
        return [commands.abort(self._binding.channel)] if is_ours else ()

    def tick(self, now: float) -> Decoded:
        if self._binding.stage is Stage.AWAITING_LOCK and self._member.acquire(
            self._request.user_id
        ):
            return self._send_prompt(now)
        if now >= self._progress.detector.deadline:
            return self._progress.end_grace()
        if now >= self._response_deadline:
            has_init = self._binding.stage is not Stage.AWAITING_INIT
            self._member.release()
            return self._progress.fail(progress.NO_ECHO if has_init else progress.NO_INIT)
        if now >= self._ping_at:
            self._ping_at = now + PING_S
            self._pings += 1
            return Decoded(to_agent=[commands.PING])
        return Decoded()

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return init.prepare_frame(raw)

    def receive_frame(self, raw: bytes, now: float) -> Decoded | str | None:
        frame = frames.decoder.read(raw, self.frame_stats)
        if type(frame) is frames.ChunkDelta and frame.message_id == self._binding.turn_id:
            return self._progress.delta(frame.content, now)
        if frame is None:
            return None
        if isinstance(frame, frames.Skipped):
            self.frame_stats.count_left_out(tag_of(type(frame)), len(raw))
        was_sent = self._binding.stage is Stage.SENT
        decoded = self._guarded(self._interpret, frame, now)
        if was_sent and self._binding.stage is not Stage.SENT:
            self._member.release()
        return decoded

    def _guarded(self, handle: _Handler, frame: frames.Read, now: float) -> Decoded | None:
        try:
            return handle(frame, now)
        except RecursionError:  # nested too deeply, though `prepare_frame` accepted it
            self.frame_stats.count_unreadable(b"")
            return None

    def _interpret(self, frame: frames.Read, now: float) -> Decoded | None:
        binding = self._binding
        if binding.stage is Stage.OVER:
            return None
        match frame:
            case frames.Init():
                return self._init_received(frame, now)
            case frames.Status(data) if data.status in DEAD:
                return self._session_died()
            case frames.Pong():
                self._pongs += 1
                if self._pongs == self._echo_pong:
                    binding.echoes_complete()
                return None
            case frames.Skipped():
                return None
            case frames.UserJoined(user_id):
                return self._user_joined(user_id)
            case frames.ChunkDelta(message_id=turn_id):
                binding.open_turns.turn_seen(turn_id, frame.channel)
                return self._count_foreign()
            case frames.Updated(data) if data.id == binding.turn_id:
                return Decoded(self._progress.snapshot_received(data, now))
            case frames.Updated(data):
                if data.is_finished:
                    binding.open_turns.turn_closed(data.id)
                elif data.role == "assistant" and data.parts:
                    binding.open_turns.turn_seen(data.id, data.channel)
                return self._count_foreign()
            case frames.Message(data):
                return self._message(data, now)
            case frames.AgentStatus(status=status, detail=detail):
                if status == "idle":
                    self._progress.detector.idle_channel = frame.named_channel
                if frame.channel != binding.channel or not binding.owns_channel:
                    return self._count_foreign()
                if status == "idle":
                    return self._progress.agent_idle(frame, now)
                binding.runner_working()
                self._progress.sign_of_life(now)
                return Decoded([events.AgentStatus(status, detail)])
            case frames.Status(data):
                return self._status(data, now)
            case frames.Question() if frame.channel == binding.channel and binding.owns_channel:
                return self._progress.question_asked(questions.question_event(frame), now)
            case frames.InteractivePrompt() if (
                questions.channel(frame) == binding.channel and binding.owns_channel
            ):
                return self._progress.question_asked(questions.prompt_event(frame), now)
            case frames.Question(question_id=question_id):
                self._progress.question_asked_elsewhere(question_id, frame.channel)
                return self._count_foreign()
            case frames.InteractivePrompt(prompt=prompt):
                self._progress.question_asked_elsewhere(prompt.id, questions.channel(frame))
                return self._count_foreign()
            case frames.Resolved():
                return self._resolved(frame, now)
            case frames.Expired(prompt_id=question_id):
                closed = events.QuestionClosed(question_id, expired=True)
                return self._progress.question_closed(closed, questions.expired_channel(frame), now)
            case frames.AgentError():
                return self._error(frame, now)
            case frames.QueueState(data):
                if data.pending is None or not binding.prompt_pending(data.pending):
                    return None
                return self._report_queued()
            case frames.Withdrawn(data):
                if binding.withdrawn(data.message_id):
                    return self._progress.fail(progress.EVICTED)
                return self._count_foreign()
            case frames.AuditLog(entry):
                if entry.is_live and entry.event_type == "user.abort":
                    return self._progress.abort_logged(entry, now)
                if entry.is_live and entry.event_type == "prompt.queued":
                    binding.note_queue_author(entry.actor_id)
                return None
            case _:
                assert_never(frame)

    def _user_joined(self, user_id: str | None) -> Decoded | None:
        """Our user opened a socket. The first one is our own (page 4.1)."""
        if user_id != self._request.user_id:
            return None
        if self._has_joined and self._member.joined(user_id):
            self._has_returned = True
        self._has_joined = True
        return ALIVE if self._has_returned else None

    # The prompt.

    def _init_received(self, frame: frames.Init, now: float) -> Decoded | None:
        if self._binding.stage is not Stage.AWAITING_INIT:
            return None
        state = session_state(frame)
        if state.is_dead or self._binding.channel.type not in ALLOWED:
            return Decoded(rejection=Rejection.SESSION)
        self._binding.init_received(state)
        self._response_deadline = NEVER
        return self._send_prompt(now) if self._member.acquire(self._request.user_id) else ALIVE

    def _send_prompt(self, now: float) -> Decoded:
        """Send the prompt.

        No other stream of this process sends one to this session until the echo.
        """
        self._binding.prompt_sent()
        self._member.prompt_channel = self._binding.channel
        self._response_deadline = now + RESPONSE_S
        if self._member.apart:  # our echo comes before the pong of the next ping
            self.mark_stale()
            self._echo_pong = self._current_after_pong
        prompt = commands.prompt(self._request, self._binding.channel)
        self._request = self._request.without_attachments()  # the echo has the text
        return Decoded(to_agent=[prompt])

    def _session_died(self) -> Decoded:
        if not self.accepted:
            return Decoded(rejection=Rejection.SESSION)
        return self._progress.session_died()

    def _message(self, data: frames.MessageData, now: float) -> Decoded | None:
        binding = self._binding
        # A forwarded message has content, or an object for its parts (page 9, trap 23).
        if data.role == "assistant" and data.content == "" and bytes(data.parts) == b"[]":
            return self._progress.turn_began(data, now)
        if data.role == "user":
            if binding.user_message(data):
                self._response_deadline = NEVER
                return ALIVE
            if binding.stage is Stage.SENT and self._response_deadline == NEVER:
                self._response_deadline = now + RESPONSE_S  # the bound prompt was not ours
            if self._progress.detector.deadline < NEVER and data.channel == binding.channel:
                binding.supersede()
        may_be_reply = (
            binding.stage is Stage.SENT and binding.echo_on_dispatch and data.role == "system"
        )
        if may_be_reply and _SLASH.fullmatch(self._request.text):
            text = events.TextDelta(data.content or "")
            end = self._progress.finish(events.TurnFinished(reason=Reason.END_TURN))
            return Decoded([events.TurnStarted(data.id), text, end])
        return self._count_foreign()

    def _report_queued(self) -> Decoded:
        self._response_deadline = NEVER
        return Decoded([events.Queued()])

    def _status(self, data: frames.StatusData, now: float) -> Decoded | None:
        binding = self._binding
        if data.prompt_queued:
            return self._report_queued() if binding.prompt_queued(data) else None
        if data.prompt_dequeued:
            return self._prompt_dequeued(data, now)
        if data.collect_pending:
            binding.open_turns.collected(data.channel)
        if data.queue_cleared:
            is_ours = binding.queue_cleared(data.named_channel)
            return self._progress.fail(progress.DROPPED) if is_ours else None
        if data.runner_disconnected:
            binding.runner_lost(data.queued_prompts)
            if binding.stage is Stage.RUNNER_LOST:
                self._progress.detector.reset()
        elif data.runner_busy is False:
            return self._runner_idle(data, now)
        elif data.question_answered is not None:
            answer = frames.non_null(data.answer)
            closed = events.QuestionClosed(data.question_answered, answer=answer)
            return self._progress.question_closed(closed, data.named_channel, now)
        elif data.question_expired is not None:
            closed = events.QuestionClosed(data.question_expired, expired=True)
            return self._progress.question_closed(closed, data.named_channel, now)
        is_lifecycle = data.status is not None or data.runner_connected or data.runner_disconnected
        return ALIVE if is_lifecycle else None

    def _prompt_dequeued(self, data: frames.StatusData, now: float) -> Decoded | None:
        if self._binding.stage is Stage.QUEUED:
            self._progress.detector.reset()
        is_ours = self._binding.prompt_dequeued(data)
        if self._binding.stage is Stage.SUPERSEDED:
            return self._progress.completion_received(now)
        if data.message_id is None or data.channel == self._binding.channel:
            return self._progress.end_linger() or (ALIVE if is_ours else None)
        return ALIVE if is_ours else None

    def _runner_idle(self, data: frames.StatusData, now: float) -> Decoded | None:
        """The session drained: our turn is over, unless the report came too early (page 5.6)."""
        if data.aborted and self._binding.stage is Stage.QUEUED:
            # Our prompt is gone, unless it was queued after that abort: then the queue moves on at
            # once.
            self._progress.detector.error = progress.DROPPED
            self._progress.detector.expect_end_by(now + progress.COMPLETION_GRACE_S)
            return ALIVE
        if self._binding.runner_idle(data.message_id):
            if data.aborted:
                self._progress.detector.aborted = True
            return self._progress.completion_received(now)
        if self._binding.stage in {Stage.WORKING, Stage.RUNNING}:
            # V: no channel is busy any more, though no frame reported the end of our turn.
            self._progress.detector.expect_end_by(now + progress.REPEATED_GRACE_S)
        return self._progress.end_linger()

    def _error(self, error: frames.AgentError, now: float) -> Decoded | None:
        binding = self._binding
        error_text, reply_text = (
            safe_json.error_message(error.error),
            safe_json.error_message(error.message),
        )
        is_reply = reply_text is not None and error_text is None and error.message_id is None
        text = error_text or reply_text or ""
        if is_reply and binding.stage is Stage.SENT:
            # The agent rejected some attachments, and the prompt goes on with the rest (page 3).
            if text.startswith("Unsupported file type"):
                return ALIVE
            return self._progress.fail(text)
        is_for_session = (
            error.named_channel is None and error.message_id is None and error.prompt_id is None
        )
        if binding.stage is Stage.QUEUED and is_for_session:
            self._progress.detector.error = text  # the cause, if the session ends next
            return ALIVE
        is_here = is_for_session or (error.prompt_id is None and error.channel == binding.channel)
        if is_reply or not is_here or not binding.owns_channel:
            return self._count_foreign()
        return self._progress.error_received(text, now)

    # Questions.

    def _resolved(self, resolved: frames.Resolved, now: float) -> Decoded | None:
        resolution = resolved.resolution
        answer = frames.non_null(resolution.value) or frames.non_null(resolution.action_id)
        if (
            self._binding.stage is Stage.SENT
            and answer is not None
            and safe_json.string(answer) == self._request.text
            and resolution.resolved_by in {None, self._request.user_id}
            and resolved.named_channel in {None, self._binding.channel}
        ):
            return self._progress.fail(progress.ANSWERED)
        closed = events.QuestionClosed(resolved.prompt_id, answer=answer)
        return self._progress.question_closed(closed, resolved.named_channel, now)

    def _count_foreign(self) -> Decoded | None:
        self.frame_stats.foreign += 1
        return None
