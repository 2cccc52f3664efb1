"""ASGI middleware that sends the `POST` requests of the chat path to their endpoint directly.

It saves the time of the router and of the middleware inside it. It looks at path and method only;
all other requests go to the router. The middleware in front of both still answers a crash.
"""

from collections.abc import Awaitable

from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send


class ChatShortcut:
    """Calls `endpoint` for each `POST` request whose path matches, as a route would."""

    def __init__(self, app: ASGIApp, *, endpoint: ASGIApp, path: str) -> None:
        self._app = app
        self._endpoint = endpoint
        self._match = compile_path(path)[0].match

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http" and scope["method"] == "POST" and not scope["root_path"]:
            match = self._match(scope["path"])
            if match is not None:
                scope["path_params"] = match.groupdict()
                return self._endpoint(scope, receive, send)
        return self._app(scope, receive, send)
