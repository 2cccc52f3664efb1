"""CORS: which pages of other origins may call the chat routes and read what they answer.

Not Starlette's middleware: that one stands in front of every chunk of a stream,
and tells an origin that is not listed what listed ones may do.
"""

from collections.abc import Awaitable, Collection, Iterable
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turnwire.web.request import Request

PATH: Final = "/api/sessions/"
"""All below it, also where there is no route: a page may read its 404."""

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
    """Answers preflights, and adds to the head of every other response what its origin may do.

    Never with credentials: a token travels in `Authorization`, where no browser puts it by itself.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        self._app = app
        self._any = "*" in origins
        self._origins = {origin.encode() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PATH):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        allowed = self._allowed(request)
        asks = bool(request.headers(b"access-control-request-method"))
        if allowed and asks and scope["method"] == "OPTIONS":
            response = Response(status_code=204, headers={"x-request-id": request.id})
            response.raw_headers += [_VARY, *allowed, *_PREFLIGHT]
            await response(scope, receive, send)
            return
        more = [_VARY, *allowed, _EXPOSED] if allowed else [_VARY]
        await self._app(scope, receive, _Head(send, more))

    def _allowed(self, request: Request) -> Headers:
        """The header that lets the page of the request's origin in, if there is one."""
        given = request.headers(b"origin")
        if len(given) != 1 or not (self._any or given[0] in self._origins):
            return []
        return [(b"access-control-allow-origin", b"*" if self._any else given[0])]


class _Head:
    """A `send` that adds to the head, and is not there for what follows it."""

    __slots__ = ("_more", "_send")

    def __init__(self, send: Send, more: Iterable[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._more = more

    def __call__(self, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *self._more]}
        return self._send(message)
