"""What a platform may ask without a token: that the server is there, and that it can work.

The answers have no information but their status.
"""

import asyncio
import time
from typing import Final

from turnwire_agent.journal.port import Journal, UnavailableError

HEALTH: Final = "/healthz"
READY: Final = "/readyz"
ANSWER_S: Final = 2.0
"""How long the journal may take to answer. Probes wait for a little more."""
KEPT_S: Final = 1.0
"""How long an answer counts: so many probes as there may be, the journal is asked once in it."""


class Probes:
    """Answers the probes of one server."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._asking: asyncio.Task[bool] | None = None
        self._asked_at = 0.0

    async def status(self, path: str) -> int | None:
        """The status for a path. None: it is no probe's."""
        if path == HEALTH:
            return 200
        if path == READY:
            return 200 if await self._is_ready() else 503
        return None

    async def _is_ready(self) -> bool:
        now = time.monotonic()
        if self._asking is None or (self._asking.done() and now - self._asked_at >= KEPT_S):
            self._asking = asyncio.create_task(self._answers())
            self._asked_at = now
        return await asyncio.shield(self._asking)

    async def _answers(self) -> bool:
        """Whether the journal does a read now."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._journal.due(limit=1)
        except (TimeoutError, UnavailableError):
            return False
        return True
