"""The demo with real weights: the runtime is their agent, and its process is killed in a tool."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from turnwire_lab.agents.frameworks.catalog import LOCAL_MODEL, OTHER_AGENTS
from turnwire_lab.runtime.process import LOCAL, LOCAL_TITLE, RuntimeAgent
from turnwire_lab.stage import Stage

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(300)]

SURVEY = "survey the pages for journal"


def prompted(text: str) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}]
    return {"messages": [{"id": "u1", "role": "user", "parts": parts}]}


def chunks(body: str) -> list[dict[str, Any]]:
    data = [line[6:] for line in body.splitlines() if line.startswith("data: {")]
    return [json.loads(each) for each in data]


async def until_back(http: httpx.AsyncClient, history: str) -> None:
    """Until the next process listens."""
    while True:
        if (await http.get(history)).is_success:
            return
        await asyncio.sleep(0.2)


async def test_its_tools_run_and_a_turn_outlives_its_process(tmp_path: Path) -> None:
    if not OTHER_AGENTS[LOCAL_MODEL].python.exists():
        pytest.skip("the weights are installed by `make agents`")
    agent = RuntimeAgent(LOCAL, folder=tmp_path)
    async with Stage(agent) as stage:
        headers = {"authorization": f"Bearer {stage.token}"}
        url = f"{stage.gateway.url}/api/sessions"
        async with httpx.AsyncClient(headers=headers, timeout=120, trust_env=False) as http:
            sum_ = await http.post(f"{url}/s1/chat", json=prompted("what is 12*7?"))
            told: list[dict[str, Any]] = []
            async with http.stream("POST", f"{url}/s2/chat", json=prompted(SURVEY)) as stream:
                async for line in stream.aiter_lines():
                    told += chunks(line)
                    if "tool-input-available" in line:
                        agent.kill()
            async with asyncio.timeout(60):
                await until_back(http, f"{url}/s2/messages")
            resumed = await http.get(f"{url}/s2/chat/s2/stream")
            history = (await http.get(f"{url}/s2/messages")).json()

    assert agent.title == LOCAL_TITLE
    outputs = {each["type"]: each for each in chunks(sum_.text)}
    assert outputs["tool-output-available"]["output"] == {"expression": "12*7", "value": 84}
    assert len([each for each in chunks(sum_.text) if each["type"] == "text-delta"]) > 2
    assert [each["type"] for each in told[-2:]] == ["error", "finish"]
    again = chunks(resumed.text)
    assert again[0]["messageId"] == told[0]["messageId"]
    assert {each["type"]: each for each in again}["tool-output-available"]["output"]["times"] > 0
    assert again[-1]["type"] == "finish"
    assert [each["role"] for each in history] == ["user", "assistant"]
