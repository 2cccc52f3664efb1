"""An agent behind HTTP, read by httpx and httpx-sse, translated by hand: one `async for`."""

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from httpx_sse import aconnect_sse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

AGENT_URL = os.environ["BENCH_AGENT_URL"]
DONE = "[DONE]"

_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=1_000)


def app_of(
    body_of: Callable[[str], dict[str, Any]],
    chunks: Callable[[dict[str, Any]], list[dict[str, Any]]],
) -> Starlette:
    """`body_of` makes a request of a prompt; `chunks` says what an event is worth."""

    async def chat(request: Request) -> StreamingResponse:
        """One turn."""
        message = (await request.json())["messages"][-1]
        text = "".join(part["text"] for part in message["parts"] if part["type"] == "text")
        client: httpx.AsyncClient = request.app.state.client

        async def records() -> AsyncIterator[str]:
            async with aconnect_sse(client, "POST", AGENT_URL, json=body_of(text)) as source:
                async for event in source.aiter_sse():
                    if event.data == DONE:
                        continue
                    for chunk in chunks(json.loads(event.data)):
                        yield f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n"
            yield f"data: {DONE}\n\n"

        return StreamingResponse(records(), media_type="text/event-stream")

    return Starlette(
        routes=[Route("/api/sessions/{session_id}/chat", chat, methods=["POST"])],
        lifespan=_lifespan,
    )


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    async with httpx.AsyncClient(limits=_LIMITS, timeout=60, trust_env=False) as client:
        app.state.client = client
        yield
