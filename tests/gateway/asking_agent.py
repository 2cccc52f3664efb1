"""The agent of the wire `asking` (`support.asking_dialect`), and a gateway before it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx
import msgspec

from gateway.clients import Chat, Json, Listens, ask, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import PATIENCE_S, closed
from support.asking_dialect import Asking, Run
from support.framed_transport import LENGTH_BYTES, OPEN, framed


class AgentRun:
    """One connection: a run of a turn."""

    def __init__(self, run: Run, writer: asyncio.StreamWriter) -> None:
        self.run = run
        self.has_left = False
        """Whether the gateway closed the connection."""
        self._writer = writer

    async def say(self, *frames: msgspec.Struct) -> None:
        self._writer.write(b"".join(framed(msgspec.json.encode(frame)) for frame in frames))
        await self._writer.drain()

    def leave(self) -> None:
        self._writer.close()

    def crash(self) -> None:
        self._writer.transport.abort()


class AskingAgent:
    """A server of this wire. The test takes each of its runs, and says what it says."""

    def __init__(self) -> None:
        self.runs: asyncio.Queue[AgentRun] = asyncio.Queue()
        self.port = 0
        self.status = OPEN
        """How it answers a request: any other refuses it."""
        self.holds: asyncio.Event | None = None
        """If there is one, it answers no request before."""
        self.asked = 0
        """How many requests came."""
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        return f"framed://127.0.0.1:{self.port}/{{session_id}}"

    async def run(self) -> AgentRun:
        """The next run."""
        return await asyncio.wait_for(self.runs.get(), PATIENCE_S)

    async def listen(self) -> None:
        """Listen, on the port that it had before if it had one."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await self._server.wait_closed()
        await closed(self.port)

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)

        async def piece() -> bytes:
            return await reader.readexactly(
                int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
            )

        try:
            await piece()
            self.asked += 1
            if self.holds is not None:
                await self.holds.wait()
            run = AgentRun(msgspec.json.decode(await piece(), type=Run), writer)
            writer.write(framed(b"%d" % self.status))
            if self.status != OPEN:
                return
            self.runs.put_nowait(run)
            await reader.read()
            run.has_left = True
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def gateway_of(agent: AskingAgent, **more: Any) -> Gateway:
    return Gateway(agent.url, dialect=Asking.name, **more)


def prompt_of(name: str, **more: Any) -> Json:
    """The body of a prompt whose text is its message's id."""
    body = ask(name, **more)
    body["messages"][0]["id"] = name
    return body


@asynccontextmanager
async def prompting(
    gateway: Listens,
    *,
    policy: str | None = None,
    user: str = "u1",
    body: Json | None = None,
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[Chat]:
    """A stream of `…/chat`. The connection closes with the block."""
    url = f"{gateway.url}/api/sessions/s1/chat"
    params = {"onDisconnect": policy} if policy else {}
    all_headers = bearer(user) | dict(headers or {})
    async with (
        new_client() as client,
        client.stream(
            "POST", url, json=body or ask(), headers=all_headers, params=params
        ) as response,
    ):
        chat = Chat(response)
        try:
            yield chat
        finally:
            await chat.hang_up()


@asynccontextmanager
async def resuming(
    gateway: Listens,
    *,
    user: str = "u2",
    chat_id: str = "chat-1",
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    **claims: Any,
) -> AsyncIterator[Chat]:
    """A stream of `…/stream`."""
    url = f"{gateway.url}/api/sessions/s1/chat/{chat_id}/stream"
    all_headers = bearer(user, **claims) | dict(headers or {})
    async with (
        new_client() as client,
        client.stream("GET", url, headers=all_headers, params=params or {}) as response,
    ):
        chat = Chat(response)
        try:
            yield chat
        finally:
            await chat.hang_up()


async def call(
    gateway: Listens,
    route: str,
    body: object = None,
    *,
    method: str = "POST",
    user: str = "u1",
    session: str = "s1",
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """One request that is no stream, or a short one."""
    url = f"{gateway.url}/api/sessions/{session}/{route}"
    async with new_client() as client:
        return await client.request(
            method, url, json=body, params=params or {}, headers=bearer(user) | dict(headers or {})
        )
