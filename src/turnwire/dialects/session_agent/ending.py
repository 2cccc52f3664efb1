"""How our turn ends where no finish part says so (page 5.6): signals, and a time of grace.

No signal is trusted at once: a completion may be told early (a prompt that was
dispatched twice), and after an error a runner may start over. A sign of life
of our turn takes back what was suspected.
"""

from typing import Final

from turnwire.core.dialect import NEVER
from turnwire.core.events import Reason, TurnFinished

COMPLETION_GRACE_S: Final = 2.0
"""After `runnerBusy:false`, or another prompt's dispatch, without a finish (page 6: 1-3 s)."""

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


class Ending:
    """What is suspected of our turn's end, and `at` when it is believed."""

    def __init__(self) -> None:
        self.at = NEVER
        self.error: str | None = None
        self.aborted = False

    @property
    def explained(self) -> bool:
        """Whether it is known why our turn would end without a finish."""
        return self.aborted or self.error is not None

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
