"""A gateway with a turn log in a Redis is killed: its readers, and the next prompt."""

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from gateway.asking_agent import call, prompting, resuming
from gateway.clients import errors, is_whole, said
from gateway.http_agent import Asked, HttpAgent
from gateway.process import Process
from gateway.redis_server import RedisServer
from gateway.running import Gateway

pytestmark = pytest.mark.sockets

LEASE_S = 6.0


async def _begins(asked: Asked) -> None:
    """Answer as an agent that speaks AG-UI, and go on for ever."""
    ids = {name: json.loads(asked.body)[name] for name in ("threadId", "runId")}
    await asked.say(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
    for event in (
        {"type": "RUN_STARTED", **ids},
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "Hello"},
    ):
        await asked.say(f"data: {json.dumps(event)}\n\n".encode())
    await asked.is_left()


@pytest.mark.fault(
    "a gateway with a turn log in a Redis is killed in mid-turn",
    "readers get what it had, then “Stream interrupted”, within 6 s; then the next prompt begins",
)
async def test_readers_of_a_killed_gateway_get_an_error_and_the_next_prompt_begins(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(RedisServer(tmp_path))
        agent = await stack.enter_async_context(HttpAgent(_begins))
        given: Any = {"dialect": "ag-ui", "turn_log": redis.url}
        killed = await stack.enter_async_context(Process(agent.url, **given))
        other = await stack.enter_async_context(Gateway(agent.url, **given))
        prompt = await stack.enter_async_context(prompting(killed))
        await prompt.sees("Hello")
        reader = await stack.enter_async_context(resuming(other))
        await reader.sees("Hello")

        killed.signal(SIGKILL)
        loop = asyncio.get_running_loop()
        killed_at = loop.time()
        body = await reader.end()

        assert loop.time() - killed_at < LEASE_S + 2
        assert said(body) == "Hello"
        assert errors(body) == ["Stream interrupted"]
        assert is_whole(body)
        again = await stack.enter_async_context(prompting(other))
        assert again.response.status_code == 200
        await again.sees("Hello")
        assert (await call(other, "stop", {})).status_code == 200
        await again.end()
