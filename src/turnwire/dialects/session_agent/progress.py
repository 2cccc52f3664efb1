"""The events of our turn, from its first frame to its end.

`binding` decides which frames belong to our turn. `snapshots` finds what is new in a snapshot.
`CompletionDetector` detects the end of a turn where the agent sends no finish part (page 5.6).

No signal of such an end is trusted at once: the agent may report a completion too early (for a
prompt that was dispatched twice), and after an error a runner may start the turn again. So each
signal only sets a deadline, the end of a grace period. A sign of life of our turn removes the
deadline. All times are in seconds.

Pages are sections of docs/wire/session-agent.md.
"""

import re
from collections.abc import Sequence
from typing import Final

from turnwire.core import events
from turnwire.core.agent import ALIVE, NEVER, Decoded
from turnwire.core.events import Event, Reason
from turnwire.core.requests import Channel
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.session_agent import frames, questions
from turnwire.dialects.session_agent.binding import TurnBinding
from turnwire.dialects.session_agent.binding.transitions import Stage
from turnwire.dialects.session_agent.frames import THREAD
from turnwire.dialects.session_agent.snapshots import Snapshots

COMPLETION_GRACE_S: Final = 2.0
"""After `runnerBusy:false`, or after the dispatch of another prompt, without a finish part (page
6: 1-3 s)."""

REPEATED_GRACE_S: Final = 30.0
"""The same after a prompt was dispatched again: the runner answers the second copy at once, as if
the turn were complete (page 5.6). Also if the session drained without a sign that our turn is
over."""

ERROR_GRACE_S: Final = 3.0
"""After an `error`: the agent may force the completion as late as 60 s after it (page 5.10)."""

ABORT_GRACE_S: Final = 5.0
"""After an abort by any user: R sends no acknowledgement if the runner has nothing to abort."""

LINGER_S: Final = 0.5
"""After a finish part while tool calls are open: the runner sends the results of stuck tools after
it (page 5.6)."""

NO_INIT: Final = "The agent did not open the session"
NO_ECHO: Final = "The agent did not take the prompt"
EVICTED: Final = "Another prompt took this one's place in the queue"
DROPPED: Final = "The queue was emptied before this prompt's turn"
ANSWERED: Final = "The agent took this message as the answer to its open question"
SESSION_OVER: Final = "The session has ended"
NO_OUTPUT: Final = "The agent ended the turn without an answer"


_ABORT_SUMMARY: Final = re.compile(r"User aborted agent(?: \(channel: ([^:]+):(.+)\))?")
"""The summary of an abort in the audit log, with the aborted channel."""


class CompletionDetector:
    """The suspected end of our turn.

    `deadline` is the time at which the suspicion becomes certain; the other attributes are the
    cause.
    """

    def __init__(self) -> None:
        self.deadline = NEVER
        self.error: str | None = None
        self.aborted = False
        self.idle_channel: Channel | None = None
        """The channel of the last idle status: V sends an idle status just before an abort."""

    @property
    def has_cause(self) -> bool:
        """Whether there is a cause why our turn would end without a finish part."""
        return self.aborted or self.error is not None

    def is_stopped_by_abort(self, channel: Channel, summary: str) -> bool | None:
        """Whether an abort by any user stops our turn, on this channel (page 5.5). None: perhaps.

        V stops a single thread, or else every channel, and reports the completion of one of
        them. R and A stop what the audit log states.
        """
        if self.idle_channel is not None:
            return self.idle_channel.type != THREAD or self.idle_channel == channel
        match = _ABORT_SUMMARY.fullmatch(summary)
        if match is None:
            return None
        return match[1] is None or Channel(match[1], match[2]) == channel

    def expect_end_by(self, time: float) -> None:
        """The turn ends at this time, unless it shows a sign of life before."""
        self.deadline = min(self.deadline, time)

    def reset(self) -> None:
        """Our turn goes on: drop the suspicion."""
        self.deadline = NEVER
        self.error = None
        self.aborted = False

    def finish(self, *, has_output: bool) -> events.TurnFinished:
        """The end of a turn without a finish part. A turn with output was aborted (page 5.6)."""
        if self.error is not None:
            return events.TurnFinished(reason=Reason.ERROR, error=self.error)
        if self.aborted or has_output:
            return events.TurnFinished(reason=Reason.CANCELED)
        return events.TurnFinished(reason=Reason.ERROR, error=NO_OUTPUT)


class TurnProgress:
    """The output of our turn so far, and whether the turn is over. Its methods return events."""

    def __init__(self, binding: TurnBinding, frame_stats: FrameStats) -> None:
        self.detector = CompletionDetector()
        self._binding = binding
        self._frame_stats = frame_stats
        self._snapshots = Snapshots()
        self._questions = questions.OpenQuestions(binding.channel)
        self._finished: events.TurnFinished | None = None
        self._has_output = self._has_deltas = False

    # Its frames.

    def assume_running(self) -> None:
        """The turn was already running when we connected.

        Assume that it has produced text; snapshots carry that text.
        """
        self._has_output = self._has_deltas = True

    def delta(self, text: str, now: float) -> str:
        if self._finished is not None:
            return ""  # its text is complete
        if text:
            self._has_output = self._has_deltas = True
        self._binding.turn_alive()
        self.sign_of_life(now)
        return text

    def turn_began(self, data: frames.MessageData, now: float) -> Decoded | None:
        """A turn started. If it is ours, its id replaces the one that we had."""
        binding = self._binding
        if data.id == binding.turn_id:
            return ALIVE  # a repeated frame
        if not binding.turn_began(data.id, data.channel):
            self._frame_stats.foreign += 1
            is_superseded = binding.stage is Stage.SUPERSEDED and self.detector.deadline == NEVER
            return self.completion_received(now) if is_superseded else None
        self._snapshots = Snapshots()
        self._finished = None
        self.detector.reset()
        return Decoded([events.TurnStarted(data.id)])

    def snapshot_received(self, snapshot: frames.Snapshot, now: float) -> Sequence[Event]:
        """A snapshot of our turn came. Returns the events that it adds."""
        changes = self._snapshots.changes(snapshot)
        self._frame_stats.count_skipped(changes.skipped_bytes)
        decoded: list[Event] = list(changes.tools)
        self._has_output = self._has_output or bool(decoded)
        if self._finished is not None:  # tool results that the runner sends after the end
            is_waiting = changes.tools_open or self._binding.stage is Stage.CANCELED
            return decoded if is_waiting else [*decoded, self.finish(self._finished)]
        self._binding.turn_alive()
        if changes.finish is None:
            self.sign_of_life(now)
            return decoded
        error = changes.error or self.detector.error
        end = events.TurnFinished(
            reason=changes.finish, final_text=changes.text or None, error=error
        )
        if changes.text and not self._has_deltas:
            # No delta came at all: only the snapshot has the text (page 5.7).
            decoded.append(events.TextDelta(changes.text))
            end = events.TurnFinished(reason=changes.finish, error=error)
        # A prompt whose turn was canceled by a restart continues under a new id (page 5.4).
        if changes.finish is not Reason.CANCELED and not changes.tools_open:
            return [*decoded, self.finish(end)]
        self._finished = end
        is_canceled = changes.finish is Reason.CANCELED
        self._binding.finish_part_received(is_canceled=is_canceled)
        self.detector.reset()
        self.detector.expect_end_by(now + (COMPLETION_GRACE_S if is_canceled else LINGER_S))
        return decoded

    def question_asked(self, question: events.Question, now: float) -> Decoded:
        self._questions.add_ours(question.question_id)
        self.sign_of_life(now)
        return Decoded([question])

    def question_asked_elsewhere(self, question_id: str, channel: Channel) -> None:
        self._questions.add_elsewhere(question_id, channel)

    def question_closed(
        self, closed: events.QuestionClosed, named_channel: Channel | None, now: float
    ) -> Decoded | None:
        """A question was closed, on this channel if the frame names one."""
        if not self._questions.closed(closed.question_id, named_channel):
            self._frame_stats.foreign += 1
            return None
        self.sign_of_life(now)
        return Decoded([closed])

    def agent_idle(self, status: frames.AgentStatus, now: float) -> Decoded | None:
        """Handle an idle status of our channel.

        It is never an end by itself: it comes while a question waits, and late (page 5.6).
        """
        if status.named_channel is None:
            return None  # the third idle status of an abort, which other turns ignore (page 5.5)
        if self.detector.aborted:
            self.detector.expect_end_by(now + COMPLETION_GRACE_S)
        return ALIVE

    # The end of a turn without a finish part.

    def abort_logged(self, entry: frames.Entry, now: float) -> Decoded | None:
        """A user aborted; no finish part will follow (page 5.5)."""
        binding = self._binding
        is_stopped = self.detector.is_stopped_by_abort(binding.channel, entry.summary or "")
        if is_stopped is None and not binding.echo_on_dispatch:
            is_stopped = True  # R aborts the turn that runs
        if is_stopped is False:
            return None
        if binding.stage is Stage.QUEUED and not binding.echo_on_dispatch:
            return self.fail(DROPPED)  # R empties its queue with every abort
        if binding.owns_channel:
            self.detector.aborted = True
            if is_stopped:
                self.detector.expect_end_by(now + ABORT_GRACE_S)
        return None

    def error_received(self, text: str, now: float) -> Decoded:
        """An error of our turn came. The turn may start over nevertheless."""
        self.detector.error = text
        self.detector.expect_end_by(now + ERROR_GRACE_S)
        return ALIVE

    def completion_received(self, now: float) -> Decoded:
        """A completion signal came.

        Alone it may be early; after an error or an abort it is the end.
        """
        if self.detector.has_cause:
            return self.end_grace()
        is_repeated = self._binding.is_repeated
        self.detector.expect_end_by(now + (REPEATED_GRACE_S if is_repeated else COMPLETION_GRACE_S))
        return ALIVE

    def end_linger(self) -> Decoded | None:
        """Nothing more will follow the finish part. Return the end, if a finish part came."""
        return None if self._finished is None else self._end(self._finished)

    def end_grace(self) -> Decoded:
        """The grace period is over: return the end of our turn."""
        return self._end(self._finished or self.detector.finish(has_output=self._has_output))

    def session_died(self) -> Decoded:
        """The session is over, and so is our turn."""
        if self._finished is not None:
            return self._end(self._finished)
        return self.fail(self.detector.error or SESSION_OVER)

    def sign_of_life(self, now: float) -> None:
        """A sign of life of our turn came: drop a suspected end."""
        if self._finished is None:
            self.detector.reset()
            if self._binding.stage is Stage.SUPERSEDED:
                self.detector.expect_end_by(now + COMPLETION_GRACE_S)

    def fail(self, text: str) -> Decoded:
        return self._end(events.TurnFinished(reason=Reason.ERROR, error=text))

    def _end(self, end: events.TurnFinished) -> Decoded:
        return Decoded([self.finish(end)])

    def finish(self, end: events.TurnFinished) -> Event:
        self._binding.end()
        self._finished = end
        self.detector.reset()
        return end
