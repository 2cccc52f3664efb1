"""Whose run an event is of, and which other runs are open on the same server.

Everybody who is connected is sent the events of all runs. Those of a flow may name no run: they are
ours while no other run is open, and nobody's otherwise.
"""

from collections.abc import Hashable, Iterable
from typing import Final

import turnwire.dialect as td

OTHERS_MAX: Final = 256
"""Most runs of others that are kept. Of more, it is no longer known when the last one ends."""


class Runs:
    """Our run, and those of others that we heard of."""

    def __init__(self, ours: str) -> None:
        self.ours = ours
        self._others: dict[str, None] = {}
        self._over: dict[Hashable, None] = {}
        """Runs of others that ended."""
        self._is_heard = False
        """Whether an event named our run: before that, the end of a flow may be that of another."""
        self.is_crowded = False
        """Whether there were too many others to keep."""

    @property
    def has_others(self) -> bool:
        """Whether another run is open."""
        return bool(self._others) or self.is_crowded

    def are_open(self, run_ids: Iterable[Hashable]) -> bool:
        """Whether one of these runs, whose prompts were sent, did not end yet."""
        return any(run_id not in self._over for run_id in run_ids)

    def is_ours(self, run_id: str | None, *, is_end: bool) -> bool:
        """Whether an event is of our run. `is_end`: it is the end of its run."""
        if not run_id:
            return not self.has_others and (self._is_heard or not is_end)
        if run_id != self.ours:
            self._note(run_id, is_end=is_end)
            return False
        self._is_heard = True
        return True

    def _note(self, run_id: str, *, is_end: bool) -> None:
        if is_end:
            self._others.pop(run_id, None)
            td.keep(self._over, run_id, None, OTHERS_MAX)
        elif len(self._others) < OTHERS_MAX:
            self._others[run_id] = None
        elif run_id not in self._others:
            self.is_crowded = True
