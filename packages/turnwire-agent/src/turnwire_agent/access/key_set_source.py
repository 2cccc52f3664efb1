"""Where the bytes of a key set are: at a URL, or in a file."""

import asyncio
import re
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import httpx

from turnwire_agent.access.access import is_own_name
from turnwire_agent.access.public_keys import NoKeySetError
from turnwire_agent.llm.credentials.concurrency import OwnThread

BYTES_MAX: Final = 256 * 1024
TIMEOUT_S: Final = 5.0
"""Of the whole exchange with a server."""
_URL: Final = re.compile(r"https?://[^/?#@\s]+(/[^#\s]*)?")


class Source(Protocol):
    """Has the bytes of a key set."""

    fresh_s: float
    """After so many seconds they are read again."""

    async def read(self) -> bytes:
        """The bytes as they are now.

        Raises:
            NoKeySetError: They cannot be had.
        """
        ...


class UrlSource:
    """A key set that its issuer publishes. Redirects are not followed.

    Raises:
        ValueError: It is no URL of `https:`, nor of `http:` on this machine.
    """

    fresh_s = 600.0

    def __init__(self, url: str, client: httpx.AsyncClient) -> None:
        parts = urlsplit(url)
        if not _URL.fullmatch(url) or (parts.scheme == "http" and not is_own_name(parts.netloc)):
            raise ValueError("a key set is at an https: URL without a user")
        self._url = url
        self._client = client

    async def read(self) -> bytes:
        # The exceptions of httpx hold the request and its headers: none leaves this function.
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._get()
        except TimeoutError:
            failed = NoKeySetError(f"there is no answer within {TIMEOUT_S:g} s")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            failed = NoKeySetError(f"its server cannot be reached ({type(error).__name__})")
        raise failed

    async def _get(self) -> bytes:
        # A body that is not packed cannot grow when it is read.
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        async with self._client.stream(
            "GET",
            self._url,
            headers=headers,
            auth=None,
            follow_redirects=False,
            timeout=TIMEOUT_S,
        ) as response:
            if response.status_code != httpx.codes.OK:
                raise NoKeySetError(f"its server answers {response.status_code}")
            body = bytearray()
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > BYTES_MAX:
                    raise NoKeySetError(f"it has more than {BYTES_MAX} bytes")
            return bytes(body)


class FileSource:
    """A key set in a file, which may be replaced while we run."""

    fresh_s = 10.0

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = OwnThread("key-set")

    async def read(self) -> bytes:
        return await self._thread.run(self._read)

    def _read(self) -> bytes:
        try:
            if not self._path.is_file():  # a FIFO must not hold the thread for ever
                raise NoKeySetError("there is no such file")
            with self._path.open("rb") as file:
                body = file.read(BYTES_MAX + 1)
        except OSError as error:
            raise NoKeySetError(f"it cannot be read: {error.strerror}") from None
        if len(body) > BYTES_MAX:
            raise NoKeySetError(f"it has more than {BYTES_MAX} bytes")
        return body
