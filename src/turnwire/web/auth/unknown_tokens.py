"""Limits how many unknown tokens the control plane is asked about at the same time.

The gateway cannot verify an opaque token. It must ask the control plane about each one, also about
an invented one. A slow control plane answers few requests at a time, and a user with a valid token
must not wait behind clients with invalid tokens.

An unknown token is one that the control plane has not accepted in the last hour.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import Final

from cachetools import TTLCache

from turnwire.errors import Unauthorized, Unavailable
from turnwire.web.auth.access import Access, Grant
from turnwire.web.auth.identity import Caller

AT_ONCE: Final = 50
"""Most unknown tokens that the control plane is asked about at the same time: half of the
connections to it (`web.auth.control_plane`)."""

ACCEPTED_MAX: Final = 10_000
ACCEPTED_S: Final = 3_600.0
"""Seconds for which an accepted token is known."""

REFUSED_MAX: Final = 10_000
REFUSED_S: Final = 5.0
"""Seconds for which a rejected token is rejected again without asking."""


class UnknownTokens:
    """An `Access` that asks another one, about at most `at_once` unknown tokens at a time.

    Known tokens are asked about without this limit. A request with an unknown token waits
    `timeout_s` seconds for a free slot. Tokens are kept as hashes only.
    """

    def __init__(
        self,
        access: Access,
        *,
        timeout_s: float,
        at_once: int = AT_ONCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._access = access
        self._timeout_s = timeout_s
        self._slots = asyncio.Semaphore(at_once)
        self._accepted: TTLCache[bytes, None] = TTLCache(ACCEPTED_MAX, ACCEPTED_S, timer=clock)
        self._refused: TTLCache[bytes, None] = TTLCache(REFUSED_MAX, REFUSED_S, timer=clock)

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        """Return the answer of the other `Access`.

        Raises:
            Unauthorized: the other `Access` rejects the token, or did so a moment ago.
            Unavailable: the other `Access` raises it, or no slot became free in time.

        """
        token = hashlib.sha256(caller.token.encode()).digest()
        if token in self._accepted:
            return await self._ask(token, caller, session_id, request_id)
        if token in self._refused:
            raise Unauthorized("the control plane did not know the token a moment ago")
        await self._acquire_slot()
        try:
            return await self._ask(token, caller, session_id, request_id)
        finally:
            self._slots.release()

    async def _acquire_slot(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._slots.acquire()
        except TimeoutError as exc:
            raise Unavailable("too many questions about tokens that nobody knows") from exc

    async def _ask(
        self, token: bytes, caller: Caller, session_id: str, request_id: str
    ) -> Grant | None:
        try:
            grant = await self._access.grant(caller, session_id, request_id)
        except Unauthorized:
            self._accepted.pop(token, None)
            self._refused[token] = None
            raise
        if grant is not None:
            self._accepted[token] = None
        return grant
