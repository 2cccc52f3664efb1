"""How our turn ends where no finish part says so (page 5.6): signals, and a time of grace.

No signal is trusted at once: a completion may be told early (a prompt that was
dispatched twice), and after an error a runner may start over. A sign of life
of our turn takes back what was suspected.
"""

import re
from typing import Final

from turnwire.core.dialect import NEVER
from turnwire.core.events import Reason, TurnFinished
from turnwire.dialects.session_agent.channel import THREAD, Channel

COMPLETION_GRACE_S: Final = 2.0
"""After `runnerBusy:false`, or another prompt's dispatch, without a finish (page 6: 1-3 s)."""

REPEATED_GRACE_S: Final = 30.0
"""The same after a prompt was dispatched again: the runner answers the copy at once, as if it
were done (page 5.6). Also where the session drained, and nothing told that our turn is over."""

ERROR_GRACE_S: Final = 3.0
"""After an `error`: its completion may be forced as late as 60 s after it (page 5.10)."""

ABORT_GRACE_S: Final = 5.0
"""After somebody's abort: R sends no acknowledgement if the runner has nothing to abort."""

LINGER_S: Final = 0.5
"""After a finish with tools open: the runner flushes stuck tools after it (page 5.6)."""

NO_INIT: Final = "The agent did not open the session"
NO_ECHO: Final = "The agent did not take the prompt"
EVICTED: Final = "Another prompt took this one's place in the queue"
DROPPED: Final = "The queue was emptied before this prompt's turn"
ANSWERED: Final = "The agent took this message as the answer to its open question"
SESSION_OVER: Final = "The session has ended"
WORDLESS: Final = "The agent ended the turn without an answer"


_ABORT: Final = re.compile(r"User aborted agent(?: \(channel: ([^:]+):(.+)\))?")
"""How the audit log tells of one, and what it was for."""


class Ending:
    """What is suspected of our turn's end, and `at` when it is believed."""

    def __init__(self) -> None:
        self.at = NEVER
        self.error: str | None = None
        self.aborted = False
        self.idled: Channel | None = None
        """The channel that the last idle status named: V tells one just before an abort."""

    @property
    def explained(self) -> bool:
        """Whether it is known why our turn would end without a finish."""
        return self.aborted or self.error is not None

    def stops(self, ours: Channel, told: str) -> bool | None:
        """Whether somebody's abort stops our turn (page 5.5). None: perhaps.

        V stops a thread alone, or else every channel, and of those it completes
        one. R and A stop what the audit log says.
        """
        if self.idled is not None:
            return self.idled[0] != THREAD or self.idled == ours
        said = _ABORT.fullmatch(told)
        if said is None:
            return None
        return said[1] is None or (said[1], said[2]) == ours

    def by(self, at: float) -> None:
        """The turn is over at this time, if it does not show life before."""
        self.at = min(self.at, at)

    def life(self) -> None:
        """Our turn goes on."""
        self.at = NEVER
        self.error = None
        self.aborted = False

    def verdict(self, *, spoke: bool) -> TurnFinished:
        """A turn that said something and then ends without a finish was aborted (page 5.6)."""
        if self.error is not None:
            return TurnFinished(reason=Reason.ERROR, error=self.error)
        if self.aborted or spoke:
            return TurnFinished(reason=Reason.CANCELED)
        return TurnFinished(reason=Reason.ERROR, error=WORDLESS)
