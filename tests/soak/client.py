"""One request of a soak's client, and what it heard."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

from chaos.reader import Reader
from chaos.verdicts import NONE, verdict
from gateway.clients import ask, chunks, request
from gateway.tokens import bearer

WITHIN_S = 60.0


class RequestRecord(Struct, kw_only=True):
    """One request, as its client remembers it."""

    request_id: str
    user: str
    kind: str
    """What it asks for: `prompt`, `resume`, `stop`, …"""
    act: str
    policy: str = "abort"
    status: int = 0
    """0: none came."""
    code: str = ""
    """Of a refusal."""
    verdict: str = NONE
    left: bool = False
    """Whether it left before the end, or its line was one that may break."""

    @property
    def is_stream(self) -> bool:
        return self.kind in {"prompt", "resume"}


class WokenReader(Reader):
    """A client that is woken by what comes."""

    def __init__(self, port: int, *, sock: socket.socket) -> None:
        super().__init__(port, sock=sock)
        self._news = asyncio.Event()

    def pause(self) -> None:
        """Take nothing off the socket, until `go_on`."""
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    def go_on(self) -> None:
        self._writer.transport.resume_reading()  # type: ignore[attr-defined]

    async def sees(self, data: bytes) -> None:
        """Wait for these bytes, or for the end."""
        await self._until(lambda: data in self.heard or self.is_over)

    async def ends(self, within_s: float = WITHIN_S) -> None:
        await self._until(lambda: self.is_over, within_s)

    async def _until(self, fact: Callable[[], bool], within_s: float = WITHIN_S) -> None:
        async with asyncio.timeout(within_s):
            while not fact():
                self._news.clear()
                await self._news.wait()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.add_done_callback(lambda _: self._news.set())
        try:
            while data := await reader.read(65_536):
                self.heard += data
                self._news.set()
        except OSError:
            pass  # a reset ends it too


class User:
    """Somebody who asks one thing, of one session, and is never seen again."""

    def __init__(self, name: str, act: str, session: str, ports: tuple[int, int]) -> None:
        self.name = name
        self.session = session
        self.heard: list[RequestRecord] = []
        self._act = act
        self._port, self._breaking_port = ports

    @asynccontextmanager
    async def prompt(
        self,
        text: str,
        policy: str = "abort",
        *,
        breaking: bool = False,
        narrow: bool = False,
        good_for_s: int = 600,
    ) -> AsyncIterator[WokenReader]:
        """Ask, on a line that may break, or with as small a buffer, or as old a token as may be."""
        body = json.dumps(ask(text)).encode()
        path = f"chat?onDisconnect={policy}"
        heard = self._new("prompt", policy=policy, left=breaking)
        token = bearer(self.name, exp=int(time.time()) + good_for_s)
        async with self._open(
            heard, "POST", path, body, headers=token, breaking=breaking, narrow=narrow
        ) as stream:
            yield stream

    def companion(self) -> "User":
        """Somebody else of the same session, whose requests count with this one's."""
        other = User(f"{self.name}b", self._act, self.session, (self._port, self._breaking_port))
        other.heard = self.heard
        return other

    @asynccontextmanager
    async def resume(self) -> AsyncIterator[WokenReader]:
        heard = self._new("resume", policy="continue")
        async with self._open(heard, "GET", "chat/chat-1/stream") as stream:
            yield stream

    async def ask(self, kind: str, method: str, path: str, body: object = None) -> RequestRecord:
        """Ask for something that is no stream."""
        data = b"" if body is None else json.dumps(body).encode()
        heard = self._new(kind)
        async with self._open(heard, method, path, data) as answer:
            await answer.ends()
        return heard

    async def ask_badly(
        self, body: bytes, session: str | None = None, **headers: str
    ) -> RequestRecord:
        heard = self._new("bad")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self._open(
            heard, "POST", "chat", body, headers=named, session=session
        ) as answer:
            await answer.ends()
        return heard

    def _new(self, kind: str, *, policy: str = "abort", left: bool = False) -> RequestRecord:
        request_id = f"{self.name}-{len(self.heard)}"
        heard = RequestRecord(
            request_id=request_id,
            user=self.name,
            kind=kind,
            act=self._act,
            policy=policy,
            left=left,
        )
        self.heard.append(heard)
        return heard

    @asynccontextmanager
    async def _open(
        self,
        heard: RequestRecord,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        headers: dict[str, str] | None = None,
        session: str | None = None,
        breaking: bool = False,
        narrow: bool = False,
    ) -> AsyncIterator[WokenReader]:
        own = {"x-request-id": heard.request_id, "connection": "close", **bearer(self.name)}
        path = f"/api/sessions/{session or self.session}/{path}"
        asked = request(body, path=path, method=method, headers={**own, **(headers or {})})
        sock = socket.socket()
        if narrow:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        port = self._breaking_port if breaking else self._port
        async with WokenReader(port, sock=sock) as ear:
            ear.send(asked)
            yield ear
            is_over = ear.is_over
        heard.left |= not is_over
        _remember(heard, ear)


def _remember(heard: RequestRecord, ear: WokenReader) -> None:
    if not ear.heard.startswith(b"HTTP/1.1 ") or b"\r\n\r\n" not in ear.heard:
        return
    heard.status = ear.status
    if b"text/event-stream" in ear.heard:
        heard.verdict = verdict(ear.body)
    elif heard.status >= 400:
        body = bytes(ear.heard).partition(b"\r\n\r\n")[2]
        heard.code = json.loads(body)["code"]


def turn_id(ear: WokenReader) -> str | None:
    started = [chunk for chunk in chunks(ear.body) if chunk["type"] == "start"]
    return str(started[0]["messageId"]) if started and "messageId" in started[0] else None


def question_id(ear: WokenReader) -> str | None:
    asked = [chunk for chunk in chunks(ear.body) if chunk["type"] == "data-question"]
    return str(asked[0]["id"]) if asked else None
