"""Limits how many turns a user may begin in a minute. The only importer of `limits`.

The counts are in this process, or in a Redis that all replicas share. While the Redis does not
answer, every turn is allowed: the limit bounds a cost, and its failure must not be an outage.
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
"""How long a Redis may take, in seconds. No turn waits longer for it."""

_PAUSE_S: Final = 5.0
"""Seconds without a request to a Redis that failed."""


def problem(store: str) -> str | None:
    """Return why a store of this URL cannot count turns; None if it can. Opens no connection."""
    # Only a connection object reads the options after the `?`, so make one.
    try:
        storage = _storage(store)
        if store.startswith(_REDIS) and isinstance(storage, RedisStorage):
            bridge: Any = storage.bridge  # its type names two libraries
            bridge.storage.connection_pool.make_connection()
            return None
    except Exception:  # noqa: BLE001, S110 (an option may raise anything; the text may hold a password)
        pass
    return "must be redis:// or rediss://, a host, a port, and options that the library knows"


def _storage(store: str) -> Storage:
    if not store:
        return cast("Storage", storage_from_string(f"async+{IN_PROCESS}"))
    storage = storage_from_string(f"async+{store}", implementation="redispy", wrap_exceptions=True)
    return cast("Storage", storage)


def _ignore() -> None:
    """Do nothing."""


class Rates:
    """At most `per_minute` new turns of a user; 0 is no limit.

    `store` is the URL of a Redis, or empty for counts in this process. `on_failure` is called when
    the Redis fails.
    """

    def __init__(
        self,
        per_minute: int,
        store: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
        on_failure: Callable[[], object] = _ignore,
    ) -> None:
        self._on_failure = on_failure
        self._limit = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._limiter = SlidingWindowCounterRateLimiter(_storage(store))
        self._clock = clock
        self._warn_at = -_WARN_EVERY_S
        self._retry_at = -_PAUSE_S

    async def take(self, user_id: str) -> None:
        """Count a new turn of this user.

        Raises:
            TooManyTurns: the user has begun as many turns as the limit allows.

        """
        if self._limit is None or self._clock() < self._retry_at:
            return
        try:
            async with asyncio.timeout(_ANSWER_S):
                if await self._limiter.hit(self._limit, user_id):
                    return
                window = await self._limiter.get_window_stats(self._limit, user_id)
        except (StorageError, TimeoutError) as exc:
            self._retry_at = self._clock() + _PAUSE_S
            self._on_failure()
            self._warn(exc)
            return
        raise TooManyTurns(window.reset_time - time.time())

    def _warn(self, error: Exception) -> None:
        now = self._clock()
        if now >= self._warn_at + _WARN_EVERY_S:
            self._warn_at = now
            _log.warning("rates are not counted", problem=type(error).__name__)
