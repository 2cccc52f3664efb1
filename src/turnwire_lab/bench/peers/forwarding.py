"""Frames as they are: the `websockets` library's connection, nothing translated."""

import json
import os
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect

AGENT_URL: Final = os.environ["BENCH_AGENT_URL"]
START: Final = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")],
}
END: Final = {"type": "http.response.body", "body": b"", "more_body": False}
QUEUE: Final = 256
"""Frames that the library may hold, so that those of one read can share a write."""


class Forwarding:
    """A raw ASGI endpoint: all frames that are there share a write."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = json.loads(await Request(scope, receive).body())
        text = "".join(part["text"] for part in body["messages"][-1]["parts"])
        async with connect(
            AGENT_URL, compression=None, max_queue=QUEUE, ping_interval=None, proxy=None
        ) as socket:
            await socket.send(json.dumps({"type": "prompt", "content": text}))
            await send(START)
            waiting = socket.recv_messages.frames
            is_over = False
            while not is_over:
                frames = [await socket.recv(decode=False)]
                while len(waiting):
                    frames.append(await socket.recv(decode=False))
                is_over = b'"message.finalize"' in frames[-1]
                written = b"".join(frames)
                await send({"type": "http.response.body", "body": written, "more_body": True})
            await send(END)


app = Starlette(routes=[Route("/api/sessions/{session_id}/chat", Forwarding(), methods=["POST"])])
