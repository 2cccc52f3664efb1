"""Whether the event loop keeps up: late timers are the first sign that it does not.

A loop that lags serves everybody badly. New streams are refused then, so that
those that are open get through.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from turnwire.errors import Unavailable

_EVERY_S: Final = 0.1
_WEIGHT: Final = 0.3
"""Of the newest look in the average: one long callback is no overload, three are."""


def _untold(_: float) -> None:
    """Nobody wants to know."""


class Admission:
    """`lag_s` is the average lateness of the loop's timers, in seconds.

    Over `most_s` no new stream is let in; 0: however late they are. `tell` is told each lateness.
    """

    def __init__(self, most_s: float, tell: Callable[[float], object] = _untold) -> None:
        self.lag_s = 0.0
        self._most_s = most_s
        self._tell = tell
        self._due = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to look; the loop must run."""
        if self._timer is None:
            self._again(asyncio.get_running_loop())

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.lag_s = 0.0
        self._due = float("inf")

    @property
    def late_s(self) -> float:
        """How late the loop's next look is by now, as another thread sees it."""
        return max(0.0, time.monotonic() - self._due)

    def admit(self) -> None:
        """Let a new stream in.

        Raises:
            Unavailable: the loop lags.

        """
        if self._most_s and self.lag_s > self._most_s:
            raise Unavailable(f"the event loop lags by {self.lag_s:.2f} s")

    def looked(self, late_s: float) -> None:
        """A timer came so late."""
        self.lag_s += _WEIGHT * (late_s - self.lag_s)
        self._tell(late_s)

    def _again(self, loop: asyncio.AbstractEventLoop) -> None:
        due = loop.time() + _EVERY_S
        self._due = time.monotonic() + _EVERY_S  # the loop's own time stands still while it hangs
        self._timer = loop.call_at(due, self._look, loop, due)

    def _look(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self.looked(max(0.0, loop.time() - due))
        self._again(loop)
