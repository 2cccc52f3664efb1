"""A scripted control plane: a real HTTP server that answers every question with the same bytes."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, NamedTuple, Self

from gateway.waiting import closed


class Question(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]


Reply = Callable[[Question, asyncio.StreamWriter], Awaitable[None]]


def reply(status: int, body: bytes = b"", *headers: str) -> bytes:
    """A whole response."""
    head = [f"HTTP/1.1 {status} x", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def granted(role: object = "collaborator", user: object = "u1", **more: Any) -> bytes:
    told = {"role": role, "userId": user, **more}
    return reply(200, json.dumps(told).encode(), "content-type: application/json")


class ControlPlane:
    """`async with ControlPlane(granted("viewer")) as plane:`; set `says` to change its mind.

    It says nothing more where `says` is no whole response, and closes after it if told to.
    """

    def __init__(
        self,
        says: bytes | Reply = b"",
        *,
        closes: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.says = says
        self.questions: list[Question] = []
        self.connections = 0
        self.open = 0
        self.most_open = 0
        self.port = 0
        self._closes = closes
        self._tls = tls
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        origin = "http://127.0.0.1" if self._tls is None else "https://localhost"
        return f"{origin}:{self.port}/api/sessions/{{session_id}}/access"

    def settings(self, **more: object) -> dict[str, object]:
        """For a gateway that knows no token but by asking here."""
        return {"auth": "opaque", "access": "http", "access_url": self.url, "jwt_key": "", **more}

    def hang_up(self) -> None:
        """Close what is open now."""
        for writer in self._writers:
            writer.close()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._converse, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        if error is None:
            await closed(self.port)  # by whoever opened them
        self.hang_up()
        await self._server.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self.connections += 1
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        try:
            while True:
                question = _question(await reader.readuntil(b"\r\n\r\n"))
                self.questions.append(question)
                if isinstance(self.says, bytes):
                    writer.write(self.says)
                else:
                    await self.says(question, writer)
                await writer.drain()
                if self._closes:
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            self._writers.discard(writer)
            writer.close()


def _question(head: bytes) -> Question:
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ")
    fields = [line.partition(":") for line in lines]
    headers = {name.lower(): value.strip() for name, _, value in fields}
    assert len(headers) == len(fields)  # none is there twice
    return Question(method, path, headers)
