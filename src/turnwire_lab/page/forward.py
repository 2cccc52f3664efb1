"""Requests of the page to the gateway, and their answers back, written down on the way."""

import asyncio
import itertools
import re
import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from turnwire_lab.wiretap.harm import Harm
from turnwire_lab.wiretap.records import Records
from turnwire_lab.wiretap.wire import QUIET, Wire

SLOW_S: Final = 60.0
"""How long a slow client reads nothing at most; it reads on once the gateway gave it up."""
SLOW_BUFFER: Final = 64 * 1024
"""What a slow client's socket takes in without being read."""

_HOP: Final = {
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_SESSION: Final = re.compile(r"/api/sessions/([^/]+)/(.+)")
_DOWN: Final = {"error": "Temporarily unavailable", "code": "unavailable"}


class Forward:
    """An ASGI application that passes requests on to the gateway."""

    def __init__(self, gateway_url: str, wire: Wire, harm: Harm, slow_s: float = SLOW_S) -> None:
        self._wire = wire
        self._harm = harm
        self._slow_s = slow_s
        self._number = itertools.count(1)
        self._batch = secrets.token_hex(3)
        self._http = _client(gateway_url)
        self._slow_http = _client(gateway_url, (socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        # The history is asked for again and again, and no part of a turn.
        quiet = request.url.path.endswith("/messages")
        run = f"{QUIET if quiet else 'page-'}{self._batch}-{next(self._number)}"
        forwarding = asyncio.create_task(self._forward(request, body, run, send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({forwarding, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            if not forwarding.done():
                forwarding.cancel()
            with suppress(asyncio.CancelledError):
                await forwarding

    async def aclose(self) -> None:
        await self._http.aclose()
        await self._slow_http.aclose()

    async def _forward(self, request: Request, body: bytes, run: str, send: Send) -> None:
        found = _SESSION.match(request.url.path)
        session, route = (found[1], found[2]) if found else ("", request.url.path)
        route = "chat/…/stream" if route.endswith("/stream") else route
        query = f"?{request.url.query}" if request.url.query else ""
        headers = {k: v for k, v in request.headers.items() if k not in _HOP}
        headers["x-request-id"] = run
        self._wire.request(run, session, f"{request.method} {route}", body)
        prompted = request.method == "POST" and route == "chat"
        slow = prompted and self._harm.take(session, of_client=True) is not None
        http = self._slow_http if slow else self._http
        asked = http.build_request(
            request.method, request.url.path + query, headers=headers, content=body
        )
        try:
            response = await http.send(asked, stream=True)
        except httpx.TransportError:
            self._wire.request(run, session, "no gateway there")
            down = JSONResponse(_DOWN | {"requestId": run}, 503, {"retry-after": "1"})
            await down(request.scope, request.receive, send)
            return
        try:
            self._wire.request(run, session, f"{response.status_code} {route}")
            await send(_head(response.status_code, response.headers))
            await self._body(response, run, session, send, slow=slow)
        finally:
            await response.aclose()

    async def _body(
        self, response: httpx.Response, run: str, session: str, send: Send, *, slow: bool
    ) -> None:
        streams = response.headers.get("content-type", "").startswith("text/event-stream")
        records = Records()
        pieces = 0
        try:
            async for piece in response.aiter_raw():
                for data in records.take(piece) if streams else ():
                    self._wire.chunk(run, session, data)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                pieces += 1
                if slow and pieces == 1:
                    self._wire.note(session, "the client stops reading", run)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._slow_s):
                            await self._harm.until_over(run)
                    self._wire.note(session, "the client reads on", run)
        except httpx.TransportError:
            # Without an end of its body: what the browser is to see is a broken connection.
            self._wire.note(session, "the gateway hung up", run)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _client(gateway_url: str, *options: tuple[int, int, int]) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(
        base_url=gateway_url,
        timeout=None,  # noqa: S113 (a turn takes as long as it takes)
        transport=httpx.AsyncHTTPTransport(limits=limits, socket_options=options or None),
    )


def _head(status: int, headers: Mapping[str, str]) -> Message:
    raw = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in headers.items()
        if name.lower() not in _HOP - {"content-length"}
    ]
    return {"type": "http.response.start", "status": status, "headers": raw}


async def _left(receive: Receive) -> None:
    """Return when the browser hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
