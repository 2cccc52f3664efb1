"""The short way to a route is the router's way to it, and only that."""

import pytest
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from turnwire.web.routes.endpoint import CHAT_PATH
from turnwire.web.server.chat_shortcut import ChatShortcut

PATHS = [
    *("/api/sessions/s1/chat", "/api/sessions/a b:%/chat", "/api/sessions/\u00e9/chat"),
    *("/api/sessions/s1/chat/", "/api/sessions//chat", "/api/sessions/a/b/chat", "/", "*", ""),
    *("/api/sessions/s1/chat\n", "/API/sessions/s1/chat", "x/api/sessions/s1/chat"),
]


class Endpoint:
    """Notes the session that it is asked for."""

    def __init__(self) -> None:
        self.session_ids: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.session_ids.append(scope["path_params"]["session_id"])
        await Response()(scope, receive, send)


async def status(app: ChatShortcut | Router, path: str, method: str, root_path: str = "") -> int:
    sent = []

    async def send(message: object) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "root_path": root_path, "headers": []}
    await app(scope, None, send)  # type: ignore[arg-type]
    return int(sent[0]["status"])  # type: ignore[index]


@pytest.mark.parametrize("method", ["POST", "GET", "HEAD", "OPTIONS", "post"])
@pytest.mark.parametrize("path", PATHS)
async def test_as_the_router(path: str, method: str) -> None:
    here, there = Endpoint(), Endpoint()
    router = Router([Route(CHAT_PATH, there, methods=["POST"])], redirect_slashes=False)
    direct = ChatShortcut(router, endpoint=here, path=CHAT_PATH)

    assert await status(direct, path, method) == await status(router, path, method)
    was_here = len(there.session_ids) == 1 and here.session_ids == there.session_ids
    assert was_here or here.session_ids == []


async def test_the_prompts_do_go_this_way() -> None:
    here, there = Endpoint(), Endpoint()
    direct = ChatShortcut(there, endpoint=here, path=CHAT_PATH)

    await status(direct, PATHS[0], "POST")

    assert (here.session_ids, there.session_ids) == (["s1"], [])


async def test_below_another_path_it_is_the_routers() -> None:
    here, there = Endpoint(), Endpoint()
    router = Router([Route(CHAT_PATH, there, methods=["POST"])], redirect_slashes=False)

    await status(ChatShortcut(router, endpoint=here, path=CHAT_PATH), f"/x{PATHS[0]}", "POST", "/x")

    assert (here.session_ids, there.session_ids) == ([], ["s1"])
