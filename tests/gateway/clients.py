"""Clients: httpx for the polite ones, a bare socket for the others."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Final, Protocol, Self

import httpx

from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import PATIENCE_S, until

Json = dict[str, Any]


def ask(text: str = "hi", **more: Any) -> Json:
    """A body as `useChat` sends it."""
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]}
    return {"id": "chat-1", "trigger": "submit-message", "messages": [message], **more}


def chunks(body: bytes | str) -> list[Json]:
    """The chunks of a whole or a begun stream."""
    text = body.decode() if isinstance(body, bytes) else body
    found = []
    for record in text.split("\n\n")[:-1]:
        data = [line[6:] for line in record.split("\n") if line.startswith("data: ")]
        found += [json.loads(line) for line in data if line != "[DONE]"]
    return found


def outline(body: bytes | str) -> list[str]:
    return [chunk["type"] for chunk in chunks(body)]


def said(body: bytes | str) -> str:
    return "".join(chunk["delta"] for chunk in chunks(body) if chunk["type"] == "text-delta")


def errors(body: bytes | str) -> list[str]:
    return [chunk["errorText"] for chunk in chunks(body) if chunk["type"] == "error"]


def is_whole(body: bytes | str) -> bool:
    """Whether a stream came to its end."""
    text = body.decode() if isinstance(body, bytes) else body
    return outline(body)[-1:] == ["finish"] and text.endswith("\n\ndata: [DONE]\n\n")


class Listens(Protocol):
    """A gateway, in this process or in its own."""

    @property
    def url(self) -> str: ...


class Chat:
    """One stream, read as it comes."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.body = b""
        self.ended = False
        self._reading = asyncio.create_task(self._read())

    async def sees(self, text: str) -> None:
        await until(lambda: text.encode() in self.body)

    async def end(self) -> bytes:
        await asyncio.wait_for(asyncio.shield(self._reading), PATIENCE_S)
        return self.body

    async def hang_up(self) -> float:
        """Close the connection; returns when."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        at = asyncio.get_running_loop().time()
        await self.response.aclose()
        return at

    async def _read(self) -> None:
        async for data in self.response.aiter_raw():
            self.body += data
        self.ended = True


_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Never used, but httpx would read the system's authorities for each client otherwise."""


def new_client() -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(trust_env=False, timeout=25, verify=_NO_TLS, limits=limits)


async def post(
    gateway: Listens,
    *,
    session: str = "s1",
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    text: str = "hi",
    user: str = "u1",
) -> httpx.Response:
    """One turn, read to its end."""
    async with new_client() as client:
        return await client.post(
            f"{gateway.url}/api/sessions/{session}/chat",
            json=ask(text),
            params=params,
            headers={**bearer(user), **(headers or {})},
        )


async def get(gateway: Listens, path: str) -> httpx.Response:
    async with new_client() as client:
        return await client.get(gateway.url + path)


@asynccontextmanager
async def chatting(gateway: Listens, *, user: str = "u1", text: str = "hi") -> AsyncIterator[Chat]:
    """A turn that is read along; the connection closes with the block."""
    url = f"{gateway.url}/api/sessions/s1/chat"
    async with (
        new_client() as client,
        client.stream("POST", url, json=ask(text), headers=bearer(user)) as response,
    ):
        chat = Chat(response)
        try:
            yield chat
        finally:
            await chat.hang_up()


def request(
    body: bytes = b"",
    *,
    path: str = "/api/sessions/s1/chat",
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """A request as it goes over the wire; a header of None's length is `body`'s."""
    all_headers = {
        "host": "gateway",
        "content-type": "application/json",
        "content-length": str(len(body)),
        **bearer(),
        **(headers or {}),
    }
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in all_headers.items() if v)]
    return "\r\n".join([*lines, "", ""]).encode() + body


SMALL_BUFFER: Final = 32_768
"""Receive buffer of a client that reads nothing, in bytes.

In one of a few kilobytes Linux may drop segments without an acknowledgement: such a client looks as
if it had vanished.
"""


class RawClient:
    """A bare socket: it reads only when told to."""

    def __init__(self, gateway: Gateway, *, receive_buffer: int | None = None) -> None:
        self._address = ("127.0.0.1", gateway.port)
        self._sock = socket.socket()
        self._sock.setblocking(False)  # noqa: FBT003 (the library's signature)
        if receive_buffer is not None:
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._sock, data)

    async def chat(self, **headers: str) -> None:
        await self.send(request(json.dumps(ask()).encode(), headers=headers))

    async def read(self, most: int = 65_536) -> bytes:
        """Some bytes; none at the end, a reset included."""
        try:
            return await asyncio.get_running_loop().sock_recv(self._sock, most)
        except ConnectionError:
            return b""

    async def read_all(self) -> bytes:
        got = b""
        while data := await self.read():
            got += data
        return got

    def reset(self) -> None:
        """Vanish with a reset, not with a goodbye."""
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self._sock.close()

    def hang_up(self) -> None:
        self._sock.close()

    async def __aenter__(self) -> Self:
        await asyncio.get_running_loop().sock_connect(self._sock, self._address)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._sock.close()
