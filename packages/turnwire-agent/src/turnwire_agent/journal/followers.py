"""Who waits for changes of which session, in the event loop of this process."""

from collections.abc import AsyncGenerator, Sequence

from turnwire_agent.journal.port import Change
from turnwire_agent.light_event import LightEvent


class _Follower:
    """What one follower has not been told yet."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.changed = LightEvent()
        self.rows = False
        self.commands = False

    def wake(self, *, rows: bool, commands: bool) -> None:
        self.rows |= rows
        self.commands |= commands
        self.changed.set()

    def take(self) -> Change:
        change = Change(rows=self.rows, commands=self.commands)
        self.rows = self.commands = False
        self.changed.clear()
        return change


class Followers:
    """Wakes those who follow a session. How a store learns of changes is its own concern."""

    def __init__(self) -> None:
        self._followers: dict[str, set[_Follower]] = {}
        self._closed = False
        self._wanted = LightEvent()

    async def follow(self, session: str, owner: str = "") -> AsyncGenerator[Change, None]:
        """Yield at once, then after each `wake`; several may be one. It ends with `close`.

        Args:
            session: Which.
            owner: Who follows: a `wake` by the same owner is not told.

        """
        follower = _Follower(owner)
        follower.wake(rows=True, commands=True)
        self._followers.setdefault(session, set()).add(follower)
        self._wanted.set()
        try:
            while True:
                await follower.changed.wait()
                if self._closed:
                    return
                yield follower.take()
        finally:
            others = self._followers[session]
            others.discard(follower)
            if not others:
                del self._followers[session]
            if not self._followers:
                self._wanted.clear()

    def wake(
        self, session: str, *, rows: bool = False, commands: bool = False, by: str = ""
    ) -> None:
        """Say what of the session may have changed, and which owner did that, if it is known."""
        for follower in self._followers.get(session, ()):
            if not by or follower.owner != by:
                follower.wake(rows=rows, commands=commands)

    def wake_all(self) -> None:
        """Say that any session may have changed: nobody knows what was missed."""
        for session in self._followers:
            self.wake(session, rows=True, commands=True)

    def sessions(self) -> Sequence[str]:
        """Return the sessions that somebody follows."""
        return tuple(self._followers)

    async def wanted(self) -> None:
        """Wait until somebody follows a session."""
        await self._wanted.wait()

    def close(self) -> None:
        """End all iterators."""
        self._closed = True
        self.wake_all()
