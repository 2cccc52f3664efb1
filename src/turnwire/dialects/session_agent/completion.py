"""Detects the end of our turn where the agent sends no finish part (page 5.6).

No signal is trusted at once: the agent may report a completion too early (for a prompt that was
dispatched twice), and after an error a runner may start the turn again. So each signal only
sets a deadline, the end of a grace period. A sign of life of our turn removes the deadline. All
times are in seconds.
"""

import re
from typing import Final

from turnwire.core.agent import NEVER
from turnwire.core.events import Reason, TurnFinished
from turnwire.dialects.session_agent.frames import THREAD, Channel

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
            return self.idle_channel[0] != THREAD or self.idle_channel == channel
        match = _ABORT_SUMMARY.fullmatch(summary)
        if match is None:
            return None
        return match[1] is None or (match[1], match[2]) == channel

    def expect_end_by(self, time: float) -> None:
        """The turn ends at this time, unless it shows a sign of life before."""
        self.deadline = min(self.deadline, time)

    def reset(self) -> None:
        """Our turn goes on: drop the suspicion."""
        self.deadline = NEVER
        self.error = None
        self.aborted = False

    def finish(self, *, has_output: bool) -> TurnFinished:
        """The end of a turn without a finish part. A turn with output was aborted (page 5.6)."""
        if self.error is not None:
            return TurnFinished(reason=Reason.ERROR, error=self.error)
        if self.aborted or has_output:
            return TurnFinished(reason=Reason.CANCELED)
        return TurnFinished(reason=Reason.ERROR, error=NO_OUTPUT)
