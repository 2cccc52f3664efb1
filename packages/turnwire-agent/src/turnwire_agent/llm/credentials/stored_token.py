"""What stands in the store, and what a process does when it finds it so. Pure."""

import math
from enum import Enum, auto

from msgspec import Struct

from turnwire_agent.llm.credentials.secret import Secret


class Tokens(Struct, frozen=True, kw_only=True):
    """The tokens of one answer. Times are seconds since 1970 by the clock on the wall."""

    access_token: Secret | None
    """None: only the refresh token is known, as after a log-in elsewhere."""
    refresh_token: Secret | None
    issued_at: float
    expires_at: float | None

    def left_s(self, now: float, skew_s: float) -> float:
        """For how long the access token may still be sent, in seconds.

        It ends `skew_s` early, since a request takes time and clocks differ, but never before half
        of its life: a token that lives for 10 s is of use too. If the clock was set back, more time
        seems to be left than the token ever had: that is cut.
        """
        if self.access_token is None:
            return 0.0
        if self.expires_at is None:
            return math.inf
        life_s = self.expires_at - self.issued_at
        return min(self.expires_at - now, life_s) - min(skew_s, life_s / 2)


class StoredToken(Struct, frozen=True, kw_only=True):
    """A row of the store, as one transaction saw it."""

    version: str
    """Random, new with every token. Empty: there is no token yet, only a lease for the first."""
    tokens: Tokens | None = None
    lease: str = ""
    """Of who refreshes this token now: a random name. Empty: nobody does."""
    lease_s: float = 0.0
    """How long that one may take."""
    refused: bool = False
    """The token server refused the refresh token of this version, for good."""


class Step(Enum):
    """What a process does next."""

    USE = auto()
    """Somebody refreshed it."""
    WAIT = auto()
    """Somebody is about to."""
    REFRESH = auto()
    """Nobody does: take the lease."""
    LOG_IN = auto()
    """There is no refresh token to try, or it was refused."""


class View(Struct, frozen=True, kw_only=True):
    """What a process knows beside the row."""

    now: float
    """The clock on the wall, in seconds since 1970."""
    skew_s: float
    unwanted: str = ""
    """A version that the provider refused."""
    dead_lease: str = ""
    """A lease that this process has watched for longer than its holder may take."""
    needs_refresh_token: bool = True
    """False for client credentials."""


def next_step(row: StoredToken | None, view: View) -> Step:
    """Decide. It is asked twice: before the lock is taken, and under it."""
    tokens = None if row is None else row.tokens
    if (
        row is not None
        and tokens is not None
        and row.version != view.unwanted
        and tokens.left_s(view.now, view.skew_s) > 0
    ):
        return Step.USE
    refreshable = tokens is not None and tokens.refresh_token is not None
    if view.needs_refresh_token and (not refreshable or (row is not None and row.refused)):
        return Step.LOG_IN
    if row is not None and row.lease and row.lease != view.dead_lease:
        return Step.WAIT
    return Step.REFRESH


class LeaseWatch:
    """Finds a lease whose holder is dead or stopped, by a clock that nobody sets.

    The holder counts from before it takes the lease, a watcher from after it first sees it. So a
    watcher is never early, whatever the clocks on the wall do, and a process that finds the lease
    of a dead one waits for its full time.
    """

    def __init__(self) -> None:
        self._lease = ""
        self._since = 0.0

    def dead_lease(self, row: StoredToken | None, monotonic: float) -> str:
        """The lease of the row, if it is dead; else nothing.

        Args:
            row: As it was read.
            monotonic: In seconds, taken after the row was read.
        """
        if row is None or not row.lease:
            return ""
        if row.lease != self._lease:
            self._lease, self._since = row.lease, monotonic
        return row.lease if monotonic - self._since >= row.lease_s else ""
