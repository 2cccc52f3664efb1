"""What a hostile client has: a gateway, a token, and some time."""

import asyncio
import json
import socket
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from gateway.clients import Json, ask, request
from gateway.tokens import token

USER: Final = "mallory"
SESSION: Final = "hostile-1"
"""What sessions of a hostile agent begin with is `hostile-`: their connections come to it."""
READ_BYTES: Final = 262_144


class Connection:
    """`async with world.connection() as one:` is a bare socket, connected."""

    def __init__(self, world: "World", receive_buffer: int | None) -> None:
        self._world = world
        self._sock = socket.socket()
        self._sock.setblocking(False)  # noqa: FBT003 (the library's signature)
        self._loop = asyncio.get_running_loop()
        if receive_buffer is not None:
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)

    async def send(self, data: bytes) -> bool:
        """Whether all of it could be written."""
        try:
            await self._loop.sock_sendall(self._sock, data)
        except OSError:
            return False
        return True

    async def read(self, most: int = READ_BYTES) -> bytes:
        """Some bytes; none at the end, a reset included."""
        try:
            data = await self._loop.sock_recv(self._sock, most)
        except OSError:
            return b""
        self._world.read_bytes += len(data)
        if data.startswith(b"HTTP/1.1 "):
            self._world.statuses[data[9:12].decode()] += 1
        return data

    async def read_all(self) -> int:
        """Read to the end; returns how many bytes there were."""
        count = 0
        while data := await self.read():
            count += len(data)
        return count

    async def answered(self) -> int:
        """Read one whole response whose length is known; its status, 0 if there was none."""
        got = b""
        while b"\r\n\r\n" not in got:
            data = await self.read()
            if not data:
                return 0
            got += data
        head, _, body = got.partition(b"\r\n\r\n")
        _, _, said = head.lower().partition(b"content-length:")
        left = int(said.split(b"\r\n")[0] or 0) - len(body)
        while left > 0 and (data := await self.read()):
            left -= len(data)
        return int(head.split(b" ", 2)[1])

    async def __aenter__(self) -> Self:
        try:
            await self._loop.sock_connect(self._sock, ("127.0.0.1", self._world.port))
        except BaseException:  # its time is over, for one
            self._sock.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._sock.close()


class World:
    """A gateway as a hostile client sees it. What it begins is cancelled when its time is over."""

    def __init__(self, port: int, *, bearer: str | None = None) -> None:
        self.port = port
        self.bearer = token(USER) if bearer is None else bearer
        self.statuses: Counter[str] = Counter()
        """Of the answers so far: of each read that begins with one."""
        self.read_bytes = 0

    def connection(self, *, receive_buffer: int | None = None) -> Connection:
        return Connection(self, receive_buffer)

    def request(
        self,
        body: bytes | Json = b"",
        *,
        path: str = "chat",
        session: str = SESSION,
        method: str = "POST",
        bearer: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """A request to a session, with this client's token; an empty `bearer` is without one."""
        said = self.bearer if bearer is None else bearer
        return request(
            body if isinstance(body, bytes) else json.dumps(body).encode(),
            path=f"/api/sessions/{session}/{path}",
            method=method,
            headers={"authorization": f"Bearer {said}" if said else "", **(headers or {})},
        )

    def prompt(self, text: str = "hi", *, session: str = SESSION, path: str = "chat") -> bytes:
        return self.request(ask(text), session=session, path=path)
