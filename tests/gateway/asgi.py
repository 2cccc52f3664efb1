"""The application called as a server would call it, without a server."""

import asyncio
import json
from collections.abc import MutableMapping, Sequence
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette

Message = MutableMapping[str, Any]
Headers = Sequence[tuple[str, str]]


class Exchange:
    """One request and what was sent for it. `block` makes the client stop taking."""

    def __init__(
        self,
        app: Starlette,
        *,
        method: str = "POST",
        path: str = "/api/sessions/s1/chat",
        query: str = "",
        headers: Headers = (),
        body: Sequence[bytes] = (b"",),
    ) -> None:
        self.sent: list[Message] = []
        self.waiting = False
        """Whether the application waits for the client to take something."""
        self.read = 0
        """Pieces of the body that were asked for."""
        self._app = app
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [
                (name.lower().encode(), value.encode("latin-1")) for name, value in headers
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }
        self._body = list(body)
        self._gone = asyncio.Event()
        self._taking = asyncio.Event()
        self._taking.set()

    async def run(self) -> "Exchange":
        await self._app(self._scope, self._receive, self._send)
        return self

    def block(self) -> None:
        self._taking.clear()

    def take(self) -> None:
        self._taking.set()

    def hang_up(self) -> None:
        self._gone.set()
        self._taking.set()

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def bodies(self) -> list[bytes]:
        return [message.get("body", b"") for message in self.sent if "body" in message]

    @property
    def body(self) -> bytes:
        return b"".join(self.bodies)

    @property
    def json(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.body)
        return told

    async def _receive(self) -> Message:
        if self._body:
            self.read += 1
            piece = self._body.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._body)}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if not self._taking.is_set():
            self.waiting = True
            try:
                await self._taking.wait()
            finally:
                self.waiting = False
        self.sent.append(message)
