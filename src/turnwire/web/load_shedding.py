"""Load shedding: refuses new streams while the event loop lags.

The lag is the lateness of timers, measured ten times a second. A loop that lags slows every
stream. It accepts no new streams then, so that the open streams can finish.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from turnwire.errors import Unavailable

_INTERVAL_S: Final = 0.1
_WEIGHT: Final = 0.3
"""Weight of the newest lateness: one long callback is no overload, three are."""


def _ignore(_: float) -> None:
    """Do nothing."""


class Admission:
    """`lag_s` is the average lateness of the loop's timers, in seconds.

    If it exceeds `max_lag_s`, no new stream is admitted; 0 is no limit. `on_lag` is called with
    each measured lateness, in seconds.
    """

    def __init__(self, max_lag_s: float, on_lag: Callable[[float], object] = _ignore) -> None:
        self.lag_s = 0.0
        self._max_lag_s = max_lag_s
        self._on_lag = on_lag
        self._due_at = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start the measurements. Needs a running loop."""
        if self._timer is None:
            self._schedule(asyncio.get_running_loop())

    def stop(self) -> None:
        """Stop the measurements, and set the lag to 0."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.lag_s = 0.0
        self._due_at = float("inf")

    @property
    def late_s(self) -> float:
        """How late the next measurement is by now, in seconds. Other threads may read it."""
        return max(0.0, time.monotonic() - self._due_at)

    def admit(self) -> None:
        """Admit a new stream.

        Raises:
            Unavailable: the loop lags.

        """
        if self._max_lag_s and self.lag_s > self._max_lag_s:
            raise Unavailable(f"the event loop lags by {self.lag_s:.2f} s")

    def record_lag(self, late_s: float) -> None:
        """Add the lateness of one timer to the average."""
        self.lag_s += _WEIGHT * (late_s - self.lag_s)
        self._on_lag(late_s)

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        due_at = loop.time() + _INTERVAL_S
        self._due_at = time.monotonic() + _INTERVAL_S  # a blocked loop stops its clock
        self._timer = loop.call_at(due_at, self._measure, loop, due_at)

    def _measure(self, loop: asyncio.AbstractEventLoop, due_at: float) -> None:
        self.record_lag(max(0.0, loop.time() - due_at))
        self._schedule(loop)
