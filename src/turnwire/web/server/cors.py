"""CORS: which pages of other origins may call the chat routes and read the responses.

Starlette's middleware is not used: it runs for every chunk of a stream, and answers an
origin that is not listed with the headers for listed ones.
"""

from collections.abc import Awaitable, Collection, Iterable
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turnwire.web.request import Request

PATH: Final = "/api/sessions/"
"""The prefix of the paths with CORS, also of those without a route: a page may read the 404."""

MAX_AGE_S: Final = 600

Headers = list[tuple[bytes, bytes]]

_VARY: Final = (b"vary", b"Origin")
_EXPOSED: Final = (
    b"access-control-expose-headers",
    b"x-request-id, retry-after, x-workflow-run-id",
)
_PREFLIGHT: Final = [
    (b"access-control-allow-methods", b"GET, POST"),
    (
        b"access-control-allow-headers",
        b"authorization, content-type, user-agent, x-request-id, x-turnwire-profile, traceparent",
    ),
    (b"access-control-max-age", str(MAX_AGE_S).encode()),
]


class Cors:
    """ASGI middleware: answers preflights, and adds CORS headers to every other response.

    It never allows credentials: the token is in `Authorization`, which no browser sets by itself.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        self._app = app
        self._allows_any = "*" in origins
        self._origins = {origin.encode() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PATH):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        allow_origin = self._allow_origin(request)
        has_requested_method = bool(request.headers(b"access-control-request-method"))
        if allow_origin and has_requested_method and scope["method"] == "OPTIONS":
            response = Response(status_code=204, headers={"x-request-id": request.id})
            response.raw_headers += [_VARY, *allow_origin, *_PREFLIGHT]
            await response(scope, receive, send)
            return
        extra = [_VARY, *allow_origin, _EXPOSED] if allow_origin else [_VARY]
        await self._app(scope, receive, _ExtraHeaders(send, extra))

    def _allow_origin(self, request: Request) -> Headers:
        """The `access-control-allow-origin` header; empty if the origin is not allowed."""
        origins = request.headers(b"origin")
        if len(origins) != 1 or not (self._allows_any or origins[0] in self._origins):
            return []
        return [(b"access-control-allow-origin", b"*" if self._allows_any else origins[0])]


class _ExtraHeaders:
    """An ASGI `send` that adds headers to the head and passes on all other messages unchanged."""

    __slots__ = ("_extra", "_send")

    def __init__(self, send: Send, extra: Iterable[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._extra = extra

    def __call__(self, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *self._extra]}
        return self._send(message)
