"""The whole life of one stream, without the I/O.

A `Turn` is told what happened and when. Each input answers with an `Act`:
bytes to write to the client and frames to send to the agent. When `outcome` is
set the stream is over; nothing comes out of it after that.

Times are seconds on the caller's monotonic clock. The caller sleeps until
`deadline` and then calls `tick`; it may do so too early or late.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence

import msgspec

from turnwire.core import events, sse
from turnwire.core.act import NOTHING, Act
from turnwire.core.approval import Requests
from turnwire.core.bounds import MALFORMED_MAX
from turnwire.core.chunks import Chunk
from turnwire.core.deadlines import Deadlines
from turnwire.core.dialect import NEVER, Conversation, Reach
from turnwire.core.events import Event, Question
from turnwire.core.known import Known
from turnwire.core.limits import Hangup, Limits
from turnwire.core.outcome import VERDICTS, Outcome, outcome_of
from turnwire.core.portions import portions
from turnwire.core.presence import ABSENT, AWAY, BLOCKED, GONE, READING, Client, Presence
from turnwire.core.questions import left_open
from turnwire.core.refusal import Refusal
from turnwire.core.requesting import tell
from turnwire.core.translate import Translator

_UNTOLD = frozenset({events.Send, events.Alive, events.Refused, events.Question})
"""Events that are not told as they are: they are for the agent, the caller or `requesting`."""

_STATUSES = frozenset({Outcome.REFUSED, Outcome.NOTHING})  # of a stream that has no headers yet


class Turn:
    """One prompt, from the dial to the last byte.

        turn = Turn(conversation, limits)
        act = turn.opened(now)
        while turn.outcome is None:
            do(act), then wait for an input, at most until turn.deadline
            act = turn.<input>(now)

    Every input may come at any time and any number of times.
    """

    def __init__(
        self,
        conversation: Conversation,
        limits: Limits,
        *,
        event_lines: bool = True,
        usage: bool = False,
        taken_id: str | None = None,
        known: Known | None = None,
        requests: Requests | None = None,
        translator: Translator | None = None,
    ) -> None:
        self.outcome: Outcome | None = None
        self.refusal: Refusal | None = None
        """Why it was refused, where the outcome is that."""
        self.deadline = NEVER
        self.frames_heard = 0
        self.keepalives = 0
        self.began_at: float | None = None
        self.turn_id: str | None = None
        self._conversation = conversation
        self._tally = conversation.tally
        self._limits = limits
        self._event_lines = event_lines
        self._translator = translator or Translator(usage=usage, taken_id=taken_id, known=known)
        self._presence = Presence(limits)
        self._times = Deadlines(limits, conversation, self._translator, self._presence)
        self._requests = requests
        self._is_native = requests is not None and requests.native
        """Whether the client knows approvals, which end its stream."""
        self._is_telling = False
        """Whether a frame is being told, of which more is to come."""
        self._lane: bytes | None = None
        """What stands before the delta of the next record, while text deltas take the short way."""
        self._write: list[bytes] = []
        self._tell: list[bytes] = []
        self._is_open = self._headers_due = False

    # What happened, and when.

    def opened(self, now: float) -> Act:
        """The agent took the connection. Nothing is asked of it if the client is gone by then."""
        if self.outcome is not None or self._is_open:
            return NOTHING
        self._is_open = True
        self._times.opened(now)
        self._feed(self._conversation.open(now), now)
        return self._act(now)

    def unreachable(self, now: float) -> Act:
        """The agent could not be dialled."""
        return self._end(Outcome.UNREACHABLE, now)

    def frames(self, frames: Sequence[bytes], now: float) -> Act:
        """The text frames of one socket read came."""
        if self.outcome is not None:
            return NOTHING
        hear = self._conversation.hear
        self.frames_heard += len(frames)
        alive = fed = False
        texts: list[str] = []
        for frame in frames:
            told = hear(frame, now)
            if isinstance(told, str):
                alive = True
                if told:
                    texts.append(told)
            elif told:
                alive = fed = True
                if texts:
                    self._append(texts, now)
                    texts.clear()
                self._feed(told, now)
                if self.outcome is not None:
                    break
        if texts and self._append(texts, now):
            fed = True
        if alive:
            self._times.heard_at = now
        if self._tally.wasted > MALFORMED_MAX and 2 * self._tally.wasted > self.frames_heard:
            return self.unsound(now)
        if (client := self._presence.client) is not READING:
            if client is GONE:
                self._stop()
                fed = True
            elif client is AWAY and self._conversation.accompanied:
                return self._end(Outcome.CLIENT_GONE, now)
        # A plain delta only moves our deadlines away; `tick` reckons anew when it comes too early.
        nearer = self._conversation.deadline < self.deadline
        return self._act(now, reckon=fed or nearer)

    def look_into(self, frame: bytes) -> Iterator[None]:
        """`portions` comes with this long frame next (`Conversation.look_into`)."""
        return self._conversation.look_into(frame)

    def portions(self, frame: bytes, now: float) -> Generator[Act, float | None, None]:
        """`frames` of a long one, told in portions; it is sent the time of the next of them.

        Other inputs but `frames` may be in between.
        """
        told = () if self.outcome is not None else self._conversation.hear(frame, now)
        self.frames_heard += 1
        if isinstance(told, str):
            told = [events.TextDelta(told)] if told else [events.Alive()]
        waiting = left_open(told) if self._is_native else None
        left = portions(told, cut=self._translator.steady)
        portion = next(left, None)
        while portion is not None:
            following = next(left, None)
            self._is_telling = following is not None
            if self.outcome is None:
                self._times.heard_at = now
                self._feed(portion, now, waiting)
                self._reckon()
            act = Turn.frames(self, (), now) if self.outcome is None else self._act(now)
            now = (yield act) or now
            portion = following
        if not told:
            yield Turn.frames(self, (), now) if self.outcome is None else self._act(now)

    def agent_left(self, now: float) -> Act:
        """The agent's side closed, cleanly or not, or broke the WebSocket protocol."""
        return self._end(Outcome.INTERRUPTED, now)

    def unsound(self, now: float) -> Act:
        """The agent says what none says that means well."""
        return self._end(Outcome.UNSOUND, now, abort=True)

    def client_left(self, now: float, *, stalled: bool = False) -> Act:
        """The client hung up, or is cut off: it stalled, and our buffers were not full yet.

        While somebody else's turn runs an abort would hit that one, so the
        stream goes on without its client until our turn begins. One whose turn is
        to go on stays to its end: it asks what was not asked yet, and keeps its place.
        """
        if self.outcome is not None or self._presence.left:
            return NOTHING
        if stalled:
            return self._cut(now)
        if self._presence.client is BLOCKED:
            self._conversation.doubt()
            self._resumed(now)
        policy = self._limits.on_hangup
        if policy is Hangup.CONTINUE:
            return self._go_on_alone(now)
        self._presence.gone(now)
        if not self._is_open or policy is Hangup.LET_GO:
            return self._end(Outcome.CLIENT_GONE, now)
        if policy is Hangup.GRACE:
            self._conversation.unattended()
            if self._conversation.accompanied:
                return self._end(Outcome.CLIENT_GONE, now)
            self._presence.away(now)
            return self._act(now)
        self._stop()
        return self._act(now)

    def _go_on_alone(self, now: float) -> Act:
        self._presence.absent()
        self._conversation.unwatched()
        return self._end(Outcome.DRAINING, now) if self._times.is_spare else self._act(now)

    def _stop(self) -> None:
        """Its client is gone: abort our turn as soon as that hits it alone, or leave it be."""
        if self.outcome is None and self._conversation.reach is not Reach.OTHERS:
            self._tell += self._conversation.abort()
            self.outcome = self._presence.outcome(Outcome.CLIENT_GONE, began=True)

    def blocked(self, now: float) -> Act:
        """The client's buffer is full; nothing is read from the agent until it is not."""
        self._presence.blocked(now)
        return self._act(now)

    def progressed(self, now: float, held_bytes: int = 0) -> Act:
        """A blocked client read something; `held_bytes` came in meanwhile and wait for it."""
        self._presence.progressed(now)
        return self.held(held_bytes, now)

    def held(self, held_bytes: int, now: float) -> Act:
        """More came in for a blocked client: `held_bytes` in all, beyond the read that blocked."""
        if held_bytes > self._limits.backlog_bytes:
            return self._cut(now)
        return self._act(now)

    def unblocked(self, now: float) -> Act:
        """The client's buffer has room again. The agent's silence stood still meanwhile."""
        self._resumed(now)
        return self._act(now)

    def drain(self, now: float) -> Act:
        """The gateway stops: open turns may go on for the drain time."""
        self._times.drain(now)
        return self._end(Outcome.DRAINING, now) if self._times.is_spare else self._act(now)

    def tick(self, now: float) -> Act:
        """Time passed."""
        if self.outcome is not None:
            return NOTHING
        if now >= self._conversation.deadline:
            self._feed(self._conversation.tick(now), now)
            if self.outcome is not None:
                return self._act(now)
        if now >= self._times.drain_at:
            return self._end(Outcome.DRAINING, now)
        if now >= self._times.expires_at:
            goes_on = self._limits.on_hangup is Hangup.CONTINUE
            return self._end(Outcome.EXPIRED, now, abort=not goes_on)
        if self._presence.client is AWAY and self._conversation.accompanied:
            return self._end(Outcome.CLIENT_GONE, now)
        if now >= self._presence.until:
            return self._overdue(now)
        is_meant = self._presence.client is not ABSENT
        if now >= self._times.silence_at:
            return self._end(Outcome.SILENT, now, abort=is_meant)
        if now >= self._times.longest_at:
            return self._end(Outcome.TOO_LONG, now, abort=is_meant)
        if self._headers_due and now >= self._times.keepalive_at:
            self._write.append(sse.KEEPALIVE)
            self.keepalives += 1
        return self._act(now)

    # What follows from it.

    def _append(self, texts: Sequence[str], now: float) -> bool:
        """Tell text deltas that came in a row. True: not all of them took the short lane.

        The short lane: an open text block takes deltas as they are, all of a row at once,
        at a third of the cost. Held byte-equal to the long one by tests/core/test_lanes.py.
        """
        row = texts
        if self._lane is None:  # the first one may open a block
            self._feed((events.TextDelta(row[0]),), now)
            row = row[1:]
        if self._lane is not None and row:
            try:
                self._write.append(sse.deltas(self._lane, row))
            except UnicodeEncodeError:  # half of a surrogate pair
                pass
            else:
                self._translator.told.add("".join(row))
                return row is not texts
        for text in row:
            self._feed((events.TextDelta(text),), now)
        return True

    def _feed(
        self, told: Sequence[Event], now: float, waiting: Mapping[str, Question] | None = None
    ) -> None:
        """Tell events. `waiting`: the questions that are open after these and what follows them."""
        if waiting is None:
            waiting = left_open(told) if self._is_native else {}
        for event in told:
            if type(event) not in _UNTOLD:  # nearly all
                self._say(self._translator.feed(event))
                if isinstance(event, (events.TurnStarted, events.TurnContinued)):
                    self._begin(event.turn_id, now)
                elif type(event) is events.TurnFinished:
                    self._close(VERDICTS[event.reason])
                    return
                continue
            match event:
                case events.Send(frame):
                    self._tell.append(frame)
                case events.Refused(why):
                    self._refuse(why)
                    return
                case events.Question():
                    last = waiting.get(event.question_id)
                    self._say(
                        tell(event, last, self.turn_id, self._requests, self._translator, now)
                    )
                case _:
                    pass
        block = self._translator.text_block
        self._lane = (
            None if block is None else sse.delta_prefix(block, event_line=self._event_lines)
        )

    def _begin(self, turn_id: str, now: float) -> None:
        if self.turn_id is None:  # a turn that is started over has no more time than others
            self._times.began(now)
            self.began_at = now
        self.turn_id = turn_id

    def _say(self, said: list[Chunk]) -> None:
        for chunk in said:
            self._write.append(sse.record(chunk, event_line=self._event_lines))

    def _refuse(self, why: Refusal) -> None:
        """Before the headers the caller answers a status; after them it is an error like others."""
        self.refusal = why
        outcome = outcome_of(why, is_told=self._headers_due)
        if self._headers_due:
            self._say(self._translator.fail(outcome.text or ""))
        self._close(outcome)

    def _close(self, outcome: Outcome) -> None:
        self.outcome = self._presence.outcome(outcome, began=self.turn_id is not None)

    def _overdue(self, now: float) -> Act:
        """The client has not read, was away, or was gone for too long."""
        match self._presence.client:
            case Client.BLOCKED:
                return self._cut(now)
            case Client.AWAY:
                self._presence.gone(now)
                self._stop()
                return self._act(now)
            case _:
                return self._end(Outcome.ABANDONED, now)

    def _cut(self, now: float) -> Act:
        """The client does not read: end the stream, or go on without it until we may abort."""
        if self.outcome is not None or self._presence.left:
            return NOTHING
        if self._presence.client is BLOCKED:
            self._conversation.doubt()
        if self._conversation.reach is not Reach.OTHERS:
            return self._end(Outcome.SLOW_CLIENT, now, abort=True)
        self._resumed(now)
        self._say(self._translator.fail(Outcome.SLOW_CLIENT.text or ""))
        self._lane = None
        last = self._act(now)
        self._presence.gone(now, cut=True)
        self._reckon()
        return msgspec.structs.replace(last, cut=True)

    def _resumed(self, now: float) -> None:
        """Frames are read again, if they were not."""
        since = self._presence.unblocked()
        if since is not None:
            self._times.paused(since, now)

    def _end(self, outcome: Outcome, now: float, *, abort: bool = False) -> Act:
        """End the stream on the gateway's own account."""
        if self.outcome is not None:
            return NOTHING
        if abort:
            if self._presence.client is BLOCKED:
                self._conversation.doubt()
            self._tell += self._conversation.abort()
        if outcome.text is not None:
            self._say(self._translator.fail(outcome.text))
        if outcome is Outcome.CLIENT_GONE:
            self.outcome = outcome
        else:
            self._close(outcome)
        return self._act(now)

    def _act(self, now: float, *, reckon: bool = True) -> Act:
        """What has gathered, as one write and the frames to tell."""
        # Whether all wait for an approval is known when all was told.
        is_asked = self._is_native and not self._is_telling and self._translator.waits_for_approval
        if is_asked and self.outcome is None and not self._presence.left:
            self._say(self._translator.pause())
            self.outcome = Outcome.ASKED
        written = b""
        presence = self._presence
        if presence.client is not READING and presence.left:
            self._write.clear()
        elif (self._headers_due or self._may_commit(now)) and self._write:
            written = b"".join(self._write)
            self._write.clear()
            self._times.wrote_at = now
        tell: Sequence[bytes] = ()
        if self._tell:
            tell, self._tell = self._tell, []
        if reckon:
            self._reckon()
        return Act(written, tell) if written or tell else NOTHING

    def _reckon(self) -> None:
        is_over = self.outcome is not None
        self.deadline = NEVER if is_over else self._times.next(headers_due=self._headers_due)

    def _may_commit(self, now: float) -> bool:
        """Whether the headers may go out; the comment before the first record flushes them."""
        if self.outcome in _STATUSES:
            return False
        if self.outcome is None:
            if not self._is_open:
                return False
            if not self._conversation.committed and now < self._times.hold_until:
                return False
        self._headers_due = True
        self._write.insert(0, sse.KEEPALIVE)
        return True
