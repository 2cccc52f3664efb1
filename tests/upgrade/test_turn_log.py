"""Gateways of two releases whose turn logs have another form, before one Redis and one agent."""

import asyncio
import json
import re
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest

import turnwire
from gateway.asking_agent import prompting, resuming
from gateway.clients import Json, ask, errors, is_whole, new_client, said
from gateway.http_agent import Asked, HttpAgent
from gateway.redis_server import RedisServer
from gateway.tokens import KEY, bearer
from gateway.waiting import PATIENCE_S
from upgrade.older import Version

pytestmark = pytest.mark.sockets

SOURCE: Final = Path(turnwire.__file__).parent
ENTRIES: Final = "core/turn_log/entries.py"


def other_form(folder: Path) -> None:
    """Put our gateway into a folder, but for the version of what it writes into a turn log."""
    shutil.copytree(SOURCE, folder / "turnwire", ignore=shutil.ignore_patterns("__pycache__"))
    entries = folder / "turnwire" / ENTRIES
    line = re.compile(r"^VERSION: Final = \d+$", re.MULTILINE)
    text, changes = line.subn("VERSION: Final = 99", entries.read_text())
    assert changes == 1
    entries.write_text(text)


def another_prompt() -> Json:
    body = ask("again")
    body["messages"][0]["id"] = "m2"
    return body


class PatientAgent(HttpAgent):
    """An AG-UI agent whose turns end when they may."""

    def __init__(self) -> None:
        super().__init__(self._tell)
        self.may_end = asyncio.Event()
        self.runs = 0

    async def _tell(self, asked: Asked) -> None:
        self.runs += 1
        ids = {name: json.loads(asked.body)[name] for name in ("threadId", "runId")}
        text = {"messageId": "m1"}
        await asked.say(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        await self._say(asked, {"type": "RUN_STARTED", **ids})
        await self._say(asked, {"type": "TEXT_MESSAGE_START", "role": "assistant", **text})
        await self._say(asked, {"type": "TEXT_MESSAGE_CONTENT", "delta": "Hello", **text})
        await self.may_end.wait()
        await self._say(asked, {"type": "TEXT_MESSAGE_CONTENT", "delta": " world", **text})
        await self._say(asked, {"type": "TEXT_MESSAGE_END", **text})
        await self._say(asked, {"type": "RUN_FINISHED", **ids})
        asked.close()

    async def _say(self, asked: Asked, event: dict[str, str]) -> None:
        await asked.say(f"data: {json.dumps(event)}\n\n".encode())


@pytest.mark.parametrize("begins", ["ours", "other"])
async def test_a_turn_of_another_form_is_not_read_not_joined_and_not_harmed(
    tmp_path: Path, begins: str
) -> None:
    other_form(tmp_path / "other")
    folders = [None, tmp_path / "other"]
    if begins == "other":
        folders.reverse()
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(RedisServer(tmp_path))
        agent = await stack.enter_async_context(PatientAgent())
        client = await stack.enter_async_context(new_client())
        settings: dict[str, object] = {
            "enabled": "true",
            "agent_url": agent.url,
            "jwt_key": KEY,
            "lag_s": 0,
            "port": 0,
            "metrics_port": 0,
            "dialect": "ag-ui",
            "turn_log": redis.url,
        }
        first, second = [
            await stack.enter_async_context(Version(settings, each)) for each in folders
        ]
        url = f"{second.url}/api/sessions/s1/chat"
        prompt = await stack.enter_async_context(prompting(first))
        await prompt.sees("Hello")

        async with asyncio.timeout(PATIENCE_S):  # whoever follows the turn waits for its end
            unread = await client.get(f"{url}/chat-1/stream", headers=bearer())
        refused = await client.post(url, json=another_prompt(), headers=bearer())
        reader = await stack.enter_async_context(resuming(first))
        await reader.sees("Hello")
        agent.may_end.set()
        bodies = [await reader.end(), await prompt.end()]
        next_one = await client.post(url, json=another_prompt(), headers=bearer())

    assert (said(unread.text), errors(unread.text)) == ("", ["Stream interrupted"])
    assert is_whole(unread.text)
    assert (refused.status_code, refused.json()["code"]) == (409, "another_turn")
    assert [(said(body), errors(body)) for body in bodies] == [("Hello world", [])] * 2
    assert (said(next_one.text), errors(next_one.text)) == ("Hello world", [])
    assert agent.runs == 2
