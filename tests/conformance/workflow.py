"""A line between a client and the gateway that breaks, and the client that takes it up again."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from conformance.clients import FOLDER, NoClientsError, node

CLIENT: Final = "workflow-2.0.43"


class Asked(msgspec.Struct, frozen=True):
    """One request of the transport."""

    method: str
    url: str
    status: int
    type: str | None = None
    run: str | None = None


class Played(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    messages: list[msgspec.Raw]
    status: str
    error: str | None
    requests: list[Asked]
    timed_out: bool


async def play(
    api: str, text: str, headers: Mapping[str, str], body: Mapping[str, Any] | None = None
) -> Played:
    """Ask once over the transport.

    Raises:
        NoClientsError: it is not installed.

    """
    if not (FOLDER / CLIENT / "node_modules" / ".stamp").exists():
        raise NoClientsError(f"{CLIENT} is not installed; run `make node`")
    job = {"api": api, "text": text, "headers": headers, "body": body or {}, "limitMs": 25_000}
    process = await asyncio.create_subprocess_exec(
        *(node(), str(FOLDER / "workflow.mjs")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate(json.dumps(job).encode())
    assert process.returncode == 0, errors.decode()
    return msgspec.json.decode(out, type=Played)


class BreakingLine:
    """Passes on what comes, but every connection breaks after so many bytes of the answer.

    The first connections break, as many as there are numbers; all later ones last.
    """

    def __init__(self, port: int, breaks: Iterable[int], *, holds: bool = False) -> None:
        self.broken = 0
        self.opened = asyncio.Event()
        """Cleared by a break that holds: later connections wait for it."""
        self.opened.set()
        self._port = port
        self._holds = holds
        self._breaks = iter(breaks)
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Break all connections now."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        self.cut()
        await self._server.wait_closed()

    async def _connected(self, client: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        self._writers.add(answer)
        left: int | None = None
        with suppress(ConnectionError):
            await self.opened.wait()
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            self._writers.add(writer)
            asking = asyncio.create_task(_pass_on(client, writer))
            left = next(self._breaks, None)
            while data := await reader.read(65_536):
                answer.write(data if left is None else data[:left])
                await answer.drain()
                if left is not None:
                    left -= len(data)
                    if left <= 0:
                        self.broken += 1
                        if self._holds:
                            self.opened.clear()
                        break
            asking.cancel()
            writer.transport.abort()
        answer.transport.abort() if left is not None and left <= 0 else answer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
