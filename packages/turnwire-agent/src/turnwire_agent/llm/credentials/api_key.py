"""An API key as a credential, and none."""

import asyncio

from turnwire_agent.llm.credentials.key_header import KeyHeader
from turnwire_agent.llm.credentials.port import Granted
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.sources import KeySource


class ApiKey:
    """A key in a header.

    Args:
        source: Where the key comes from. It is asked before every attempt.
        header: Where the key goes: `KEY_HEADERS[model.shape]`, or what the server wants instead.
    """

    def __init__(self, source: KeySource, header: KeyHeader) -> None:
        self._source = source
        self._header = header
        self._key: Secret | None = None
        self._count = 0
        self._refused = ""
        self._lock = asyncio.Lock()

    def __repr__(self) -> str:
        return f"ApiKey({self._source!r}, {self._header.name})"

    async def headers(self) -> Granted:
        key = await self._read()
        return Granted(self._header.headers(key), self._version)

    async def refused(self, version: str) -> bool:
        """True if the source has another key by now. It is looked at once for each key."""
        async with self._lock:
            if version == self._version and version != self._refused:
                self._source.expire()
                await self._read()
                self._refused = version
            return version != self._version

    async def _read(self) -> Secret:
        key = await self._source.read()
        if key != self._key:
            self._key = key
            self._count += 1
        return key

    @property
    def _version(self) -> str:
        return str(self._count)


class NoKey:
    """Sends nothing, to servers that ask for no key. A refusal is the server's last word."""

    async def headers(self) -> Granted:
        return Granted({}, "")

    async def refused(self, version: str) -> bool:
        del version
        return False
