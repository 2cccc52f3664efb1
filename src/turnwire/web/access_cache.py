"""Grants, remembered for seconds."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import Final

from cachetools import TTLCache

from turnwire.web.access import Access, Grant
from turnwire.web.identity import Caller

GRANTS_MAX: Final = 10_000


class CachedAccess:
    """Asks another `Access` once in `for_s` seconds for each token and session.

    Only grants are remembered: whoever was refused, or could not be judged, is
    asked about anew. Who asks while the same question is open shares its answer,
    a failure too. Neither tokens nor sessions are kept, only a hash of both.
    """

    def __init__(
        self,
        access: Access,
        *,
        for_s: float,
        most: int = GRANTS_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._access = access
        self._grants: TTLCache[bytes, Grant] = TTLCache(most, for_s, timer=clock)
        self._asking: dict[bytes, asyncio.Task[Grant | None]] = {}

    def __len__(self) -> int:
        return len(self._grants)

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        """As the other says, or said a moment ago; raises as it does."""
        key = hashlib.sha256(f"{session_id} {caller.token}".encode()).digest()
        if (known := self._grants.get(key)) is not None:
            return known
        asking = self._asking.get(key)
        if asking is None:
            asking = asyncio.create_task(self._ask(key, caller, session_id, request_id))
            self._asking[key] = asking
            asking.add_done_callback(lambda _: self._asking.pop(key))
        # Shielded: whoever asked first may leave, and others wait for the answer.
        return await asyncio.shield(asking)

    async def _ask(
        self, key: bytes, caller: Caller, session_id: str, request_id: str
    ) -> Grant | None:
        grant = await self._access.grant(caller, session_id, request_id)
        if grant is not None:
            self._grants[key] = grant
        return grant
