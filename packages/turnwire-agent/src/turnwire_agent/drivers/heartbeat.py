"""Signs of life: a gateway ends a turn of which it hears nothing for too long."""

import time
from collections.abc import Callable
from typing import Final

from turnwire_agent.session.deltas import Delta, StatusChanged

EVERY_S: Final = 20.0
"""Longest silence. Gateways wait for two minutes, unless they are told otherwise."""


class Heartbeat:
    """Says what the agent is doing, when nothing else was said for a while."""

    def __init__(
        self, add: Callable[[Delta], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._add = add
        self._clock = clock
        self._status: StatusChanged = StatusChanged("thinking")
        self._spoke_at = clock()

    def say(self, status: StatusChanged) -> None:
        """Say what is done now."""
        self._status = status
        self._add(status)
        self.spoke()

    def spoke(self) -> None:
        """Something was said."""
        self._spoke_at = self._clock()

    def next_in(self) -> float:
        """Return in how many seconds `beat` may have something to say."""
        return max(0.0, self._spoke_at + EVERY_S - self._clock())

    def beat(self) -> None:
        """Say again what is done, if nothing was said for too long."""
        if self.next_in() == 0.0:
            self.say(self._status)
