"""A cache of grants in front of another `Access`."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import Final

from cachetools import TTLCache

from turnwire.web.auth.access import Access, Grant
from turnwire.web.auth.identity import Caller

GRANTS_MAX: Final = 10_000


class CachedAccess:
    """Asks another `Access` once in `ttl_s` seconds for each token and session.

    Only grants are cached: after a refusal or a failure, the next request asks
    again. Requests that come while the same lookup runs share its result, also a
    failure. The cache holds a hash of token and session id, not these themselves.
    """

    def __init__(
        self,
        access: Access,
        *,
        ttl_s: float,
        max_grants: int = GRANTS_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._access = access
        self._grants: TTLCache[bytes, Grant] = TTLCache(max_grants, ttl_s, timer=clock)
        self._lookups: dict[bytes, asyncio.Task[Grant | None]] = {}

    def __len__(self) -> int:
        return len(self._grants)

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        """The grant from the cache or from the other `Access`. Raises what that one raises."""
        key = hashlib.sha256(f"{session_id} {caller.token}".encode()).digest()
        if (cached := self._grants.get(key)) is not None:
            return cached
        lookup = self._lookups.get(key)
        if lookup is None:
            lookup = asyncio.create_task(self._look_up(key, caller, session_id, request_id))
            self._lookups[key] = lookup
            lookup.add_done_callback(lambda _: self._lookups.pop(key))
        # Shielded: if the first request is cancelled, the other requests still need the result.
        return await asyncio.shield(lookup)

    async def _look_up(
        self, key: bytes, caller: Caller, session_id: str, request_id: str
    ) -> Grant | None:
        grant = await self._access.grant(caller, session_id, request_id)
        if grant is not None:
            self._grants[key] = grant
        return grant
