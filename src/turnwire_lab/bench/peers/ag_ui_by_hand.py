"""An agent that speaks AG-UI, read by httpx and httpx-sse, translated by hand: one `async for`."""

import json
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from httpx_sse import aconnect_sse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

AGENT_URL = os.environ["BENCH_AGENT_URL"]

_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=1_000)


def chunks(event: dict[str, Any]) -> list[dict[str, Any]]:
    """What an event is worth."""
    match event["type"]:
        case "TEXT_MESSAGE_START":
            message_id = event["messageId"]
            return [
                {"type": "start", "messageId": message_id},
                {"type": "start-step"},
                {"type": "text-start", "id": message_id},
            ]
        case "TEXT_MESSAGE_CONTENT":
            return [{"type": "text-delta", "id": event["messageId"], "delta": event["delta"]}]
        case "TEXT_MESSAGE_END":
            return [{"type": "text-end", "id": event["messageId"]}]
        case "RUN_FINISHED":
            return [{"type": "finish-step"}, {"type": "finish"}]
        case _:
            return []


async def chat(request: Request) -> StreamingResponse:
    """One turn."""
    message = (await request.json())["messages"][-1]
    text = "".join(part["text"] for part in message["parts"] if part["type"] == "text")
    run_id = uuid.uuid4().hex
    run = {
        "threadId": run_id,
        "runId": run_id,
        "messages": [{"id": "prompt", "role": "user", "content": text}],
        "tools": [],
        "context": [],
        "state": {},
        "forwardedProps": {},
    }
    client: httpx.AsyncClient = request.app.state.client

    async def records() -> AsyncIterator[str]:
        async with aconnect_sse(client, "POST", AGENT_URL, json=run) as source:
            async for event in source.aiter_sse():
                for chunk in chunks(json.loads(event.data)):
                    yield f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n"
        yield "data: [DONE]\n\n"

    return StreamingResponse(records(), media_type="text/event-stream")


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    async with httpx.AsyncClient(limits=_LIMITS, timeout=60, trust_env=False) as client:
        app.state.client = client
        yield


app = Starlette(
    routes=[Route("/api/sessions/{session_id}/chat", chat, methods=["POST"])], lifespan=_lifespan
)
