"""The key set of the tokens' issuer: read, kept, and read again."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from turnwire_agent.access.key_set_source import Source
from turnwire_agent.access.public_keys import NoKeySetError, PublicKey, public_keys

LOGGER: Final = logging.getLogger("turnwire_agent.access")

STALE_S: Final = 3600.0
"""If the set is older, requests wait for a new one: a key may have been withdrawn."""
PAUSE_S: Final = 30.0
"""Shortest time between two readings, so that invented key ids do not cause more of them."""
RETRY_S: Final = 5.0
"""The same while there is no set at all."""


class KeySet:
    """Public keys by key id. A token without an id is good only if the set has one key.

    One reading is on its way at a time. While they fail, the last set stays in use. Its owner calls
    `aclose`.
    """

    def __init__(self, source: Source, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._keys: Sequence[PublicKey] | None = None
        self._read_at = self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self.failed = ""
        """Why the last reading gave no set; empty if it gave one."""

    async def keys_for(self, key_id: str | None) -> Sequence[PublicKey]:
        """The keys with that id, or for None the only key of the set.

        An empty list is "there is none", unless `failed` says that this is not known.
        """
        age_s = self._clock() - self._read_at
        if age_s >= self._source.fresh_s:
            reading = self._start(RETRY_S if self._keys is None else self._pause_s)
            if age_s >= STALE_S:
                await _wait_for(reading)
        keys = self._keys_of(key_id)
        if not keys and key_id is not None and self._keys is not None:
            await _wait_for(self._start(self._pause_s))
            keys = self._keys_of(key_id)
        return keys

    async def load(self) -> None:
        """Read the set before the first request comes.

        Raises:
            NoKeySetError: There is none yet.
        """
        self._tried_at = self._clock()
        await self._renew()

    async def aclose(self) -> None:
        """Leave a reading that is on its way."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    @property
    def _pause_s(self) -> float:
        return min(PAUSE_S, self._source.fresh_s)

    def _keys_of(self, key_id: str | None) -> Sequence[PublicKey]:
        keys = self._keys or ()
        if key_id is None:
            return keys if len(keys) == 1 else ()
        return [key for key in keys if key.key_id == key_id]

    def _start(self, pause_s: float) -> asyncio.Task[None] | None:
        """The reading on its way, or a new one; None if the last began less than that ago."""
        now = self._clock()
        if self._reading is None and now - self._tried_at >= pause_s:
            self._tried_at = now
            self._reading = asyncio.create_task(self._read())
            self._reading.add_done_callback(self._ended)
        return self._reading

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._reading = None

    async def _read(self) -> None:
        try:
            await self._renew()
        except NoKeySetError as error:
            kept = "; the one before stays in use" if self._keys is not None else ""
            LOGGER.warning("key set: %s%s", error, kept)
        else:
            LOGGER.info("key set: read, %d keys", len(self._keys or ()))

    async def _renew(self) -> None:
        try:
            keys = public_keys(await self._source.read())
        except NoKeySetError as error:
            self.failed = str(error)
            raise
        self.failed = ""
        self._keys, self._read_at = keys, self._clock()


async def _wait_for(reading: asyncio.Task[None] | None) -> None:
    if reading is not None:
        # Shielded: when one request is gone, the others still want the set.
        await asyncio.shield(reading)
