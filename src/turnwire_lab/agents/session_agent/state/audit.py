"""The audit log: all clients get each row, and on A and V every new socket gets all rows."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import Revision

ROWS: Final = 20_000
"""Rows kept; older ones are forgotten, since a demo may run for weeks."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    event: str
    summary: str
    actor: str | None
    at: datetime


class AuditLog:
    def __init__(self, revision: Revision, now: Callable[[], datetime]) -> None:
        self._rows: deque[AuditRow] = deque(maxlen=ROWS)
        self._revision = revision
        self._now = now

    def add(self, event: str, summary: str, actor: str | None = None) -> Json:
        """The live frame of a row: an ISO time, and nulls only after R (§4.5)."""
        row = AuditRow(event, summary, actor, self._now())
        self._rows.append(row)
        entry = self._entry(row, row.at.isoformat())
        if self._revision == "R":
            entry = {name: value for name, value in entry.items() if value is not None}
        return {"type": "audit_log", "entry": entry}

    def in_init(self) -> list[Json]:
        """R: the rows as `init` has them, times as the database writes them (§4.1)."""
        return [
            self._entry(row, row.at.strftime("%Y-%m-%d %H:%M:%S")) | {"metadata": {}}
            for row in self._rows
        ]

    def frames(self) -> Iterator[Json]:
        """A and V: the whole history for a new socket, times as epoch seconds (§4.1)."""
        for row in self._rows:
            yield {"type": "audit_log", "entry": self._entry(row, int(row.at.timestamp()))}

    def _entry(self, row: AuditRow, at: str | int) -> Json:
        return {
            "eventType": row.event,
            "summary": row.summary,
            "actorId": row.actor,
            "metadata": None,
            "createdAt": at,
        }
