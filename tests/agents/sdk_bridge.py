"""A bridge made of the ACP SDK's own parts: its WebSocket server before its client of a process.

`OPENCODE=… uvicorn sdk_bridge:app` runs in the environment of an agent, and imports nothing of this
project. Unlike `turnwire bridge`, it reads each message by the SDK's models and writes it anew.
"""

import importlib
import os
from collections.abc import Awaitable, Callable
from typing import Any

acp = importlib.import_module("acp")
asgi = importlib.import_module("acp.http.asgi")

LINE_BYTES = 32 * 1024 * 1024


class Forwarding:
    """The agent that the server sees, and the client that the process sees."""

    def __init__(self) -> None:
        self.agent: Any = None
        self.client: Any = None

    def met(self, client: Any) -> "Forwarding":
        self.client = client
        return self

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        """What one side calls by this name, for the other side."""
        is_of_client = name in {"session_update", "request_permission"}
        if name == "on_connect" or (not is_of_client and not hasattr(self.agent, name)):
            raise AttributeError(name)

        async def forward(**given: Any) -> Any:
            return await getattr(self.client if is_of_client else self.agent, name)(**given)

        return forward


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Each connection has a process of its own, as behind `turnwire bridge`."""
    forwarding = Forwarding()
    server = asgi.create_asgi_app(forwarding.met)
    if scope["type"] != "websocket":
        await server(scope, receive, send)
        return
    async with acp.spawn_agent_process(
        forwarding,
        *(os.environ["OPENCODE"], "acp"),
        env=dict(os.environ),
        transport_kwargs={"stderr": None, "limit": LINE_BYTES},
    ) as (forwarding.agent, _):
        await server(scope, receive, send)
