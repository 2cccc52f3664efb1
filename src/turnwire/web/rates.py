"""How many turns a user may begin in a minute: the only importer of `limits`.

The counts are this process's own, or shared by all replicas in a Redis. While
the Redis cannot be asked, everybody is let through: it bounds a cost, and a
bound that is down must not be an outage.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, cast

import structlog
from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage, Storage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import StorageError
from limits.storage import storage_from_string

from turnwire.errors import TooManyTurns

_log = structlog.get_logger("turnwire.rates")

IN_PROCESS: Final = "memory://"

_REDIS: Final = ("redis://", "rediss://")

_WARN_EVERY_S: Final = 30.0

_ANSWER_S: Final = 0.5
"""How long a Redis may take; nobody's turn waits longer for it."""

_PAUSE_S: Final = 5.0
"""How long one that could not be asked is left alone."""


def problem(store: str) -> str | None:
    """Why turns cannot be counted in a store of this URL; None if they can. Connects to nothing."""
    # Options behind the `?` are read by nothing that is made before a connection.
    try:
        storage = _storage(store)
        if store.startswith(_REDIS) and isinstance(storage, RedisStorage):
            bridge: Any = storage.bridge  # to one of two libraries, says its type
            bridge.storage.connection_pool.make_connection()
            return None
    except Exception:  # noqa: BLE001, S110 (whatever an option does; its text may hold a password)
        pass
    return "must be redis:// or rediss://, a host, a port, and options that the library knows"


def _storage(store: str) -> Storage:
    if not store:
        return cast("Storage", storage_from_string(f"async+{IN_PROCESS}"))
    found = storage_from_string(f"async+{store}", implementation="redispy", wrap_exceptions=True)
    return cast("Storage", found)


def _untold() -> None:
    """Nobody wants to know."""


class Rates:
    """At most `per_minute` new turns of a user; 0 is no limit.

    `store` is the URL of a Redis, or empty for this process alone; `tell` is told when it fails.
    """

    def __init__(
        self,
        per_minute: int,
        store: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[], object] = _untold,
    ) -> None:
        self._tell = tell
        self._limit = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._limiter = SlidingWindowCounterRateLimiter(_storage(store))
        self._clock = clock
        self._warn_at = -_WARN_EVERY_S
        self._ask_at = -_PAUSE_S

    async def take(self, user_id: str) -> None:
        """Count a turn that this user begins.

        Raises:
            TooManyTurns: they have begun too many.

        """
        if self._limit is None or self._clock() < self._ask_at:
            return
        try:
            async with asyncio.timeout(_ANSWER_S):
                if await self._limiter.hit(self._limit, user_id):
                    return
                window = await self._limiter.get_window_stats(self._limit, user_id)
        except (StorageError, TimeoutError) as exc:
            self._ask_at = self._clock() + _PAUSE_S
            self._tell()
            self._warn(exc)
            return
        raise TooManyTurns(window.reset_time - time.time())

    def _warn(self, problem: Exception) -> None:
        now = self._clock()
        if now >= self._warn_at + _WARN_EVERY_S:
            self._warn_at = now
            _log.warning("rates are not counted", problem=type(problem).__name__)
