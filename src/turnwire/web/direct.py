"""The shortest way to the one route that matters: past the router, and what stands around it.

Only what can be told by the path and the method goes this way; all else is the router's. A crash
is still answered by what stands in front of both.
"""

from collections.abc import Awaitable

from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send


class Direct:
    """Has `endpoint` answer each `POST` to its path, as a route would."""

    def __init__(self, app: ASGIApp, *, endpoint: ASGIApp, path: str) -> None:
        self._app = app
        self._endpoint = endpoint
        self._match = compile_path(path)[0].match

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http" and scope["method"] == "POST" and not scope["root_path"]:
            found = self._match(scope["path"])
            if found is not None:
                scope["path_params"] = found.groupdict()
                return self._endpoint(scope, receive, send)
        return self._app(scope, receive, send)
