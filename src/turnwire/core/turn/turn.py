"""The whole life of one stream, without the I/O.

A `Turn` takes each input with its time, in seconds on the caller's monotonic clock, and returns an
`Output`: bytes to write to the client and frames to send to the agent.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import assert_never, cast

import msgspec

from turnwire.core import events
from turnwire.core.agent import NEVER, AgentProtocol, Decoded
from turnwire.core.bounds import MALFORMED_MAX
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Question, Reason, find_open_questions
from turnwire.core.output import OutputProtocol
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn import abort, headers, inputs
from turnwire.core.turn.abort import Decision
from turnwire.core.turn.client_state import BLOCKED, DETACHED, GONE, READING, ClientState
from turnwire.core.turn.headers import Headers
from turnwire.core.turn.inputs import Input
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.observer import TurnObserver, observed
from turnwire.core.turn.open_work import OpenWork, WorkEvent
from turnwire.core.turn.outcome import ENDS, VERDICTS, Outcome, outcome_of
from turnwire.core.turn.output import NO_OUTPUT, Output, joined, with_connect
from turnwire.core.turn.portions import portions, with_more
from turnwire.core.turn.redials import End, whom_to_ask
from turnwire.core.turn.timers import Deadlines

_STARTS = (events.TurnStarted, events.ReplayStarted)
_FINISHED = events.TurnFinished


class Turn:
    """One prompt, from the dial to the last byte.

        turn = Turn(protocol, limits, output_protocol)
        output = turn.handle(inputs.Opened(), now)
        while turn.outcome is None:
            do(output), then wait for an input, at most until turn.deadline
            output = turn.handle(<input>, now), or turn.frames(frames, now)
    Inputs may come in any order and number, also after the outcome: then outputs are empty.
    """

    _observers: Sequence[TurnObserver] = ()
    """`_observe` empties it while it calls `handle`, which would call `_observe` again."""

    _readers = 0
    """How many clients read the turn in the turn log. Few turns set an attribute of their own."""

    def __init__(
        self,
        protocol: AgentProtocol,
        limits: Limits,
        output: OutputProtocol,
        *,
        observers: Sequence[TurnObserver] = (),
    ) -> None:
        self.outcome: Outcome | None = None
        self.rejection: Rejection | None = None
        self.deadline = NEVER
        self.frames_received = self.keepalives = self._agent_ends = 0
        self.began_at: float | None = None
        self.turn_id: str | None = None
        self._protocol = protocol
        self._frame_stats = protocol.frame_stats
        self._limits = limits
        self._output = output
        self._open_work = OpenWork()
        if output.has_fixed_steps:
            self._open_work.has_fixed_rows = True
        self.client_state = ClientState(limits)
        self._timers = Deadlines(limits, protocol, self._open_work, self.client_state)
        self._has_more_portions = False
        """Whether more portions of the current frame follow."""
        self._to_client: list[bytes] = []
        self._to_agent: list[bytes | ConnectRequest] = []
        """Frames, and then the request for another connection, if the turn needs one."""
        self._is_open = self._is_connected = self._headers_due = self._may_pause = False
        if observers:
            self._observers = observers

    def handle(self, turn_input: Input, now: float) -> Output:
        """Handle an input, and return what the caller shall do now."""
        if self._observers:
            return self._observe(turn_input, now)
        match turn_input:  # the cases are tried in this order: the frequent ones come first
            case inputs.Opened():
                return self._flush(now) if self._open(now) else NO_OUTPUT
            case inputs.Tick():
                return self._tick(now)
            case inputs.Blocked():
                self.client_state.mark_blocked(now)
            case inputs.Progressed(held_bytes) | inputs.Held(held_bytes):
                if isinstance(turn_input, inputs.Progressed):
                    self.client_state.mark_progress(now)
                if held_bytes > self._limits.backlog_bytes:
                    return self._cut_off_client(now)
            case inputs.Unblocked():
                self._reading_resumed(now)
            case inputs.ClientLeft():
                return self._client_left(now)
            case inputs.ClientStalled():
                return self._cut_off_client(now)
            case inputs.AgentLeft() | inputs.Unreachable() | inputs.Refused():
                return self._go_on_without_agent(turn_input, now)
            case inputs.Replied(reply, user_id):
                return self._replied(reply, user_id, now)
            case inputs.Readers(count):
                self._readers = count
                return self._flush_unless_gone(now)
            case inputs.Stopped() if self._begin_stop(now):
                return self._flush_unless_gone(now)
            case inputs.Stopped() | inputs.Unsound():
                return self._end(ENDS[type(turn_input)], now)
            case inputs.Drain():
                self._timers.drain(now)
                return self._flush_unless_drained(now)
            case inputs.Frames(frames):
                return self.frames(frames, now)
            case _:
                assert_never(turn_input)
        return self._flush(now)

    def frames(self, frames: Sequence[bytes], now: float, *, opens: bool = False) -> Output:
        """Handle the text frames of one socket read. `opens`: the agent's yes came before them."""
        if self._observers:
            opened = self.handle(inputs.Opened(), now) if opens else NO_OUTPUT
            return joined(opened, lambda: self._observe(inputs.Frames(frames), now))
        if opens and self._open(now):
            self.deadline = now  # if no frame moves it, an early `Tick` does
            if self.outcome is not None or not self._is_connected:  # another connection is wanted
                return self._flush(now)
        if self.outcome is not None:
            return NO_OUTPUT
        receive_frame = self._protocol.receive_frame
        self.frames_received += len(frames)
        is_alive = has_fed = False
        texts: list[str] = []
        for frame in frames:
            decoded = receive_frame(frame, now)
            if isinstance(decoded, str):
                is_alive = True
                if decoded:
                    texts.append(decoded)
            elif decoded is not None:
                is_alive = has_fed = True
                if texts:
                    self._open_work.has_text = True
                    self._to_client.append(self._output.feed_texts(texts, now))
                    texts.clear()
                self._feed(decoded, now)
                if self.outcome is not None:
                    break
        if texts:
            self._open_work.has_text = True
            self._to_client.append(self._output.feed_texts(texts, now))
        if is_alive:
            self._timers.last_frame_at = now
        if self._frame_stats.wasted > MALFORMED_MAX or self.client_state.client is not READING:
            return self._flush_unless_gone(now)
        # A plain delta only moves the deadline later. A `Tick` that is too early updates it.
        return self._flush(now, update_deadline=has_fed or self._protocol.deadline < self.deadline)

    def prepare_frame(self, frame: bytes) -> Iterator[None]:
        """Prepare a long frame for `long_frame`, in short steps (`AgentProtocol.prepare_frame`)."""
        return self._protocol.prepare_frame(frame)

    def long_frame(self, frame: bytes, now: float) -> Generator[Output, float | None, None]:
        """Like `frames`, but for one long frame. Yields an output after each portion of its events.

        The caller sends the time of the next portion, and may give any input but frames before it.
        """
        for observer in self._observers:
            observer.on_input(inputs.Frames((frame,)), now)
        decoded = None if self.outcome is not None else self._protocol.receive_frame(frame, now)
        self.frames_received += 1
        is_ours = decoded is not None
        if decoded is None or isinstance(decoded, str):
            decoded = Decoded([events.TextDelta(decoded)] if decoded else ())
        open_questions = find_open_questions(decoded.events) if self._output.can_pause else None
        all_portions = portions(decoded, split_texts=self._output.has_short_texts)
        for portion, self._has_more_portions in with_more(all_portions):
            if is_ours and self.outcome is None:
                self._timers.last_frame_at = now
                self._feed(portion, now, open_questions)
            output = self._flush_unless_gone(now)
            for observer in self._observers:
                observer.on_output(output, now)
            now = (yield output) or now

    def _observe(self, turn_input: Input, now: float) -> Output:
        observers, self._observers = self._observers, ()
        try:
            return observed(observers, self.handle, turn_input, now)
        finally:
            self._observers = observers

    def _open(self, now: float) -> bool:
        if self.outcome is not None or self._is_connected:  # the client may be gone already
            return False
        self._is_connected = self._is_open = True
        self._agent_ends = 0
        self._timers.opened(now)
        self._feed(self._protocol.connection_opened(now), now)
        return True

    def _go_on_without_agent(self, end: End, now: float) -> Output:
        """End the stream, unless the turn needs its connection no more, or needs another one."""
        if self.outcome is not None:
            return NO_OUTPUT
        is_begun, ends = self._headers_due, self._agent_ends
        ask = whom_to_ask(self._protocol, end, is_begun, self._is_connected, ends)
        self._is_connected, self._agent_ends = False, ends + 1
        if (decoded := ask(now)) is not None:
            self._feed(decoded, now)
        if decoded is None or decoded.is_cut:
            return self._end(ENDS[type(end)], now)
        return self._flush_unless_gone(now)

    def _replied(self, reply: QuestionReply, user_id: str, now: float) -> Output:
        if self.outcome is not None:
            return NO_OUTPUT
        self._timers.last_frame_at = now  # the agent was not silent: it waited
        self._feed(self._protocol.reply(reply, user_id, now), now)
        return self._flush_unless_gone(now)

    def _client_left(self, now: float) -> Output:
        """Abort, wait, or go on alone, as `core.turn.abort` decides.

        While another user's turn runs, an abort would stop that one: the stream goes on without its
        client until our turn begins. Under `CONTINUE` it sends its prompt, and keeps its place.
        """
        if self.outcome is not None or self.client_state.has_left:
            return NO_OUTPUT
        if self.client_state.client is BLOCKED:
            self._protocol.mark_stale()
            self._reading_resumed(now)
        decision = abort.when_client_left(self._limits, is_connected=self._is_open)
        if decision is Decision.CONTINUE or decision is Decision.GRACE:
            return self._go_on_alone(decision, now)
        if decision is Decision.ABORT:
            return self._give_up(now)
        self.client_state.mark_gone(now)
        return self._end(Outcome.CLIENT_GONE, now)

    def _go_on_alone(self, decision: Decision, now: float) -> Output:
        """Go on without the client: to the end of the turn, or for the grace time."""
        if decision is Decision.CONTINUE:
            self.client_state.mark_absent()
            self._protocol.unwatched()
            return self._flush_unless_drained(now)
        self._protocol.client_detached()
        self.client_state.mark_detached(now)
        return self._flush_unless_gone(now)

    def _is_left_to_others(self, now: float) -> bool:
        """Whether the stream of a detached client ends, as others follow a turn that goes on."""
        if not self._readers and not self._protocol.has_other_watchers:
            self.client_state.mark_unfollowed(now)
        elif not self._limits.holds_turn:
            return True
        elif self.client_state.mark_followed():
            self._protocol.unwatched()
        return False

    def _flush_unless_drained(self, now: float) -> Output:
        return self._end(Outcome.DRAINING, now) if self._timers.ends_on_drain else self._flush(now)

    def _flush_unless_gone(self, now: float) -> Output:
        """End the stream if its agent is unsound, or if its client left and that can end it now."""
        if self.outcome is not None:
            return self._flush(now)
        wasted, client = self._frame_stats.wasted, self.client_state.client
        if wasted > MALFORMED_MAX and 2 * wasted > self.frames_received:
            return self._end(Outcome.UNSOUND, now)
        if client is DETACHED and self._is_left_to_others(now):
            return self._end(Outcome.CLIENT_GONE, now)
        if client is GONE:
            self._abort_unless_shared(now)
        return self._flush(now)

    def _begin_stop(self, now: float) -> bool:
        """Whether the agent stops our turn, and will say so: until then, the turn goes on."""
        if self.outcome is not None or (stopping := self._protocol.begin_stop(now)) is None:
            return False
        self._feed(stopping, now)
        return True

    def _abort_unless_shared(self, now: float) -> None:
        """The client is gone: abort our turn and end, unless an abort may stop another turn now."""
        is_aborted = abort.when_client_is_gone(self._protocol.abort_scope) is Decision.ABORT
        if is_aborted and not self._begin_stop(now):
            self._to_agent += self._protocol.abort()
            self.outcome = self.client_state.outcome(Outcome.CLIENT_GONE, has_begun=True)

    def _tick(self, now: float) -> Output:
        if self.outcome is not None:
            return NO_OUTPUT
        if now >= self._protocol.deadline:
            self._feed(self._protocol.tick(now), now)
            if self.outcome is not None:
                return self._flush(now)
        if now >= self._timers.drain_at:
            return self._end(Outcome.DRAINING, now)
        if now >= self._timers.expires_at:
            return self._token_expired(now)
        if self.client_state.client is DETACHED and self._is_left_to_others(now):
            return self._end(Outcome.CLIENT_GONE, now)
        if now >= self.client_state.deadline:
            return self._client_overdue(now)
        if now >= self._timers.silence_at:
            return self._end(Outcome.SILENT, now)
        if now >= self._timers.longest_at:
            return self._end(Outcome.TOO_LONG, now)
        if self._headers_due and now >= self._timers.keepalive_at:
            self._to_client.append(self._output.keepalive)
            self.keepalives += 1
        return self._flush(now)

    def _feed(
        self, decoded: Decoded, now: float, open_questions: Mapping[str, Question] | None = None
    ) -> None:
        """Handle what a frame means. An event that ends the turn is the last thing that counts.

        `open_questions`: those still open after all events of the frame.
        """
        for event in decoded.events:
            if isinstance(event, Question):
                if open_questions is None:
                    open_questions = find_open_questions(decoded.events)
                self._may_pause = self._output.can_pause
                is_over = open_questions.get(event.question_id) is not event
                self._to_client.append(self._output.ask(event, now, is_over=is_over))
                if event.approval and self._may_pause:
                    self._open_work.request(event.question_id, event.approval.call_id)
                else:
                    self._open_work.take(event)
                continue
            self._to_client.append(self._output.feed(event, now))
            if isinstance(event, WorkEvent):
                self._open_work.take(event)
            elif isinstance(event, _STARTS):
                self._mark_begun(event.turn_id, now)
            elif type(event) is _FINISHED:
                self._frame_stats.count_contradicted(self._output.contradicted_chars)
                self._set_outcome(VERDICTS[event.reason])
                return
        if decoded.to_agent:
            self._to_agent += decoded.to_agent
        if decoded.rejection is not None:
            self._reject(decoded.rejection)
        elif decoded.connect is not None:
            self._to_agent.append(decoded.connect)
            self._is_connected = False
            self._timers.last_frame_at = now

    def _mark_begun(self, turn_id: str, now: float) -> None:
        if self.turn_id is None:  # a turn that starts over gets no extra time
            self._timers.turn_began(now)
            self.began_at = now
        self.turn_id = turn_id

    def _reject(self, rejection: Rejection) -> None:
        """End the stream: with an HTTP status, or with an error chunk if the headers are due."""
        self.rejection = rejection
        outcome = outcome_of(rejection, headers_due=self._headers_due)
        if self._headers_due:
            self._to_client.append(self._output.fail(outcome.text or ""))
        self._set_outcome(outcome)

    def _set_outcome(self, outcome: Outcome) -> None:
        self.outcome = self.client_state.outcome(outcome, has_begun=self.turn_id is not None)

    def _client_overdue(self, now: float) -> Output:
        """The client was blocked, detached or gone for too long."""
        if (client := self.client_state.client) is BLOCKED:
            return self._cut_off_client(now)
        return self._give_up(now) if client is DETACHED else self._end(Outcome.ABANDONED, now)

    def _give_up(self, now: float) -> Output:
        """The client does not come back: abort our turn, as soon as that stops no other turn."""
        self.client_state.mark_gone(now)
        self._abort_unless_shared(now)
        return self._flush(now)

    def _cut_off_client(self, now: float) -> Output:
        """The client does not read: end the stream, or go on without it until we may abort."""
        if self.outcome is not None or self.client_state.has_left:
            return NO_OUTPUT
        if self.client_state.client is BLOCKED:
            self._protocol.mark_stale()
        decision = abort.when_client_is_parted(self._limits)
        if decision is not Decision.ABORT:
            return self._part(decision, Outcome.SLOW_CLIENT, now)
        if abort.when_client_is_gone(self._protocol.abort_scope) is Decision.ABORT:
            return self._end(Outcome.SLOW_CLIENT, now)
        self._reading_resumed(now)
        self._to_client.append(self._output.fail(Outcome.SLOW_CLIENT.text or ""))
        self._open_work.close()
        output = self._flush(now)
        self.client_state.mark_gone(now, Outcome.SLOW_CLIENT)
        self._update_deadline()
        return msgspec.structs.replace(output, disconnect_client=True)

    def _token_expired(self, now: float) -> Output:
        """End the stream; or only the response, if the turn goes on in the turn log."""
        decision = abort.when_client_is_parted(self._limits)
        if decision is Decision.ABORT:
            return self._end(Outcome.EXPIRED, now)
        last = self._output.fail(Outcome.EXPIRED.text or "") if self._headers_due else b""
        return self._part(decision, Outcome.EXPIRED, now, last)

    def _part(self, decision: Decision, why: Outcome, now: float, last: bytes = b"") -> Output:
        """Disconnect the client, and go on without it in the turn log. `last` ends its response."""
        self._reading_resumed(now)
        self.client_state.cut_off = why
        to_agent = self._go_on_alone(decision, now).to_agent
        return Output(last, to_agent, disconnect_client=True, ends_response=bool(last))

    def _reading_resumed(self, now: float) -> None:
        """Correct the timers if the client was blocked: frames are read again now."""
        since = self.client_state.mark_unblocked()
        if since is not None:
            self._timers.reading_resumed(since, now)

    def _end(self, outcome: Outcome, now: float) -> Output:
        """End the stream by a decision of the gateway, not of the agent."""
        if self.outcome is not None:
            return NO_OUTPUT
        if abort.when_ended(outcome, self._limits.on_disconnect, self.client_state.client):
            if self.client_state.client is BLOCKED:
                self._protocol.mark_stale()
            self._to_agent += self._protocol.abort()
        if outcome.text is not None:
            self._to_client.append(self._output.fail(outcome.text))
        elif outcome is Outcome.CANCELED:
            self._to_client.append(self._output.feed(_FINISHED(reason=Reason.CANCELED), now))
        if outcome is Outcome.CLIENT_GONE:
            self.outcome = outcome
        else:
            self._set_outcome(outcome)
        return self._flush(now)

    def crashed(self, now: float) -> Output:
        """End the stream: an exception came out of `handle` or `frames`. It may raise, too."""
        return self._end(Outcome.CRASHED, now)

    def _flush(self, now: float, *, update_deadline: bool = True) -> Output:
        """Return the gathered bytes as one write, and the gathered frames for the agent."""
        # Only after the last portion is it certain that all open calls wait for an approval.
        if (
            self._may_pause
            and not self._has_more_portions
            and self._output.is_waiting
            and self.outcome is None
            and not self.client_state.has_left
        ):
            self._to_client.append(self._output.pause())
            self.outcome = Outcome.ASKED
        to_client = b""
        client_state = self.client_state
        if client_state.client is not READING and client_state.has_left:
            self._to_client.clear()
        elif (self._headers_due or self._may_send_headers(now)) and self._to_client:
            to_client = b"".join(self._to_client)
            self._to_client.clear()
            if to_client:
                self._timers.last_write_at = now
        if update_deadline:
            self._update_deadline()
        if self._to_agent:
            to_agent, self._to_agent = self._to_agent, []
            if isinstance(to_agent[-1], ConnectRequest):
                return with_connect(to_client, to_agent, is_over=self.outcome is not None)
            return Output(to_client, cast("list[bytes]", to_agent))
        return Output(to_client) if to_client else NO_OUTPUT

    def _update_deadline(self) -> None:
        self.deadline = (
            NEVER if self.outcome is not None else self._timers.next(headers_due=self._headers_due)
        )

    def _may_send_headers(self, now: float) -> bool:
        """Whether the headers may go out now. If so, add the comment that flushes them."""
        decision = headers.decide(
            self.outcome,
            is_connected=self._is_open,
            is_accepted=self._protocol.accepted,
            is_hold_over=now >= self._timers.hold_until,
        )
        if decision is not Headers.SEND:
            return False
        self._headers_due = True
        self._to_client.insert(0, self._output.keepalive)
        return True
