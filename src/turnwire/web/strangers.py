"""Tokens that nobody knows yet: how many may be asked about at once, and which are not asked about.

Where a token means nothing here, each is a question to the control plane, also one that somebody
made up. A slow control plane has only so many answers to give, and whoever has a good token must
not wait behind whoever has none.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import Final

from cachetools import TTLCache

from turnwire.errors import Unauthorized, Unavailable
from turnwire.web.access import Access, Grant
from turnwire.web.identity import Caller

AT_ONCE: Final = 50
"""Open questions about strangers: half of all that there may be."""

KNOWN_MAX: Final = 10_000
KNOWN_S: Final = 3_600.0
"""How long a token is no stranger after it was last seen to be good."""

REFUSED_MAX: Final = 10_000
REFUSED_S: Final = 5.0
"""How long a token is taken for nobody's that the control plane said is nobody's."""


class Strangers:
    """Asks another `Access`, and keeps places free for tokens that were seen to be good.

    A stranger waits for a place for `within_s`. Of tokens only a hash is kept.
    """

    def __init__(
        self,
        access: Access,
        *,
        within_s: float,
        at_once: int = AT_ONCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._access = access
        self._within_s = within_s
        self._places = asyncio.Semaphore(at_once)
        self._known: TTLCache[bytes, None] = TTLCache(KNOWN_MAX, KNOWN_S, timer=clock)
        self._refused: TTLCache[bytes, None] = TTLCache(REFUSED_MAX, REFUSED_S, timer=clock)

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        """As the other says.

        Raises:
            Unauthorized: it says so, or said so of this token a moment ago.
            Unavailable: it says so, or too many strangers were before this one.

        """
        token = hashlib.sha256(caller.token.encode()).digest()
        if token in self._known:
            return await self._ask(token, caller, session_id, request_id)
        if token in self._refused:
            raise Unauthorized("the control plane did not know the token a moment ago")
        await self._place()
        try:
            return await self._ask(token, caller, session_id, request_id)
        finally:
            self._places.release()

    async def _place(self) -> None:
        try:
            async with asyncio.timeout(self._within_s):
                await self._places.acquire()
        except TimeoutError as exc:
            raise Unavailable("too many questions about tokens that nobody knows") from exc

    async def _ask(
        self, token: bytes, caller: Caller, session_id: str, request_id: str
    ) -> Grant | None:
        try:
            grant = await self._access.grant(caller, session_id, request_id)
        except Unauthorized:
            self._known.pop(token, None)
            self._refused[token] = None
            raise
        if grant is not None:
            self._known[token] = None
        return grant
