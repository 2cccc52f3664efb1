"""The server between the runtime and a small model, with a model that is played."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, Connection, ScriptedServer, head
from runtime.llm.streams import sse
from turnwire_lab.runtime.steered import SteeredModel

pytestmark = pytest.mark.sockets

CALCULATOR = {"type": "function", "function": {"name": "calculator", "parameters": {}}}


async def in_pieces(connection: Connection) -> bool:
    pieces = (chunk(role="assistant"), chunk(content='{"a"'), chunk(content=":1}"), chunk("stop"))
    await connection.send(STREAM_HEAD, *(sse(each) for each in pieces), sse("[DONE]"))
    return False


async def refused(connection: Connection) -> bool:
    await connection.send(head(400, {"content-length": "2"}), b"{}")
    return False


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as http:
        yield http


async def asked(http: httpx.AsyncClient, model: SteeredModel, prompt: str) -> httpx.Response:
    messages = [{"role": "user", "content": prompt}]
    body = {"messages": messages, "tools": [CALCULATOR], "stream": True}
    return await http.post(f"{model.url}/chat/completions", json=body)


def deltas(response: httpx.Response) -> list[dict[str, Any]]:
    data = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    assert data[-1] == "[DONE]"
    return [json.loads(each)["choices"][0]["delta"] for each in data[:-1]]


async def test_a_tool_that_is_named_is_called_once(http: httpx.AsyncClient) -> None:
    async with ScriptedServer([in_pieces]) as server, SteeredModel(server.url) as model:
        told = deltas(await asked(http, model, "what is 12*7?"))

    calls = [call for delta in told for call in delta.get("tool_calls", ())]
    assert [call.get("id") for call in calls] == ["a1", None, None]
    assert "".join(call["function"]["arguments"] for call in calls) == '{"a":1}'
    assert "tools" not in json.loads(server.asked[0].body)


async def test_words_pass_as_they_are(http: httpx.AsyncClient) -> None:
    async with ScriptedServer([in_pieces]) as server, SteeredModel(server.url) as model:
        told = deltas(await asked(http, model, "hello"))

    assert "".join(delta.get("content") or "" for delta in told) == '{"a":1}'
    assert not any("tool_calls" in delta for delta in told)


async def test_a_refusal_is_passed_on(http: httpx.AsyncClient) -> None:
    async with ScriptedServer([refused]) as server, SteeredModel(server.url) as model:
        response = await asked(http, model, "hello")

    assert (response.status_code, response.text) == (400, "{}")


async def test_a_model_that_is_gone_is_503(http: httpx.AsyncClient) -> None:
    async with ScriptedServer([in_pieces]) as server:
        url = server.url
    async with SteeredModel(url) as model:
        response = await asked(http, model, "hello")

    assert response.status_code == 503
