"""Notices what other processes changed, where no notification comes: it looks, while followed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from turnwire_agent.journal.followers import Followers
from turnwire_agent.journal.port import NewerSchemaError, UnavailableError

POLL_S: Final = 0.05

Position = tuple[str, int, int]
"""A session, the number of its last row, and that of its last command."""


class Poller:
    """Wakes followers of sessions that moved.

    Args:
        followers: Whom it wakes.
        positions: Asks the store how far some sessions are. None: nothing has changed since.

    """

    def __init__(
        self,
        followers: Followers,
        positions: Callable[[Sequence[str]], Awaitable[Sequence[Position] | None]],
    ) -> None:
        self._followers = followers
        self._positions = positions
        self._seen: dict[str, tuple[int, int]] = {}
        """Of the sessions that are followed."""

    async def run(self) -> None:
        """Look again and again, until it is cancelled."""
        while True:
            await self._followers.wanted()
            await self.look()
            await asyncio.sleep(POLL_S)

    async def look(self) -> None:
        """Look once. A store that does not answer is asked the next time."""
        followed = self._followers.sessions()
        try:
            found = await self._positions(followed)
        except (UnavailableError, NewerSchemaError):
            return
        for session, head, arrivals in found or ():
            self._move(session, head, arrivals)
        self._seen = {each: self._seen[each] for each in followed if each in self._seen}

    def advance(self, session: str, *, head: int = 0, arrivals: int = 0, by: str = "") -> None:
        """Wake followers because of a write of this process. `look` does not do it again.

        Args:
            session: Which.
            head: The number of its last row, if rows were written.
            arrivals: That of its last command, if one was.
            by: The owner who wrote rows.

        """
        if session in self._seen:
            self._move(session, head, arrivals, by)
        else:
            self._followers.wake(session, rows=head > 0, commands=arrivals > 0, by=by)

    def _move(self, session: str, head: int, arrivals: int, by: str = "") -> None:
        seen_head, seen_arrivals = self._seen.get(session, (-1, -1))
        self._seen[session] = max(head, seen_head), max(arrivals, seen_arrivals)
        rows, commands = head > seen_head, arrivals > seen_arrivals
        if rows or commands:
            self._followers.wake(session, rows=rows, commands=commands, by=by)
