"""What aimock sends, through a gateway, to a strict client: both wires of OpenAI's APIs.

aimock runs no tools: it is a model, and is named as one.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import pytest

from gateway.clients import ask, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from models.mock import mock
from turnwire.testing.client_model import Client

pytestmark = [pytest.mark.sockets, pytest.mark.node]

NOT_RUN: Final = "No result: nobody ran this tool"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with mock() as url:
        yield url


def before(url: str, wire: str) -> Gateway:
    given = {"agent_model": "small-1", "agent_auth": "service", "agent_token": "a-key"}
    return Gateway(f"{url}/v1", given=given, dialect=wire, usage="true")


@pytest.fixture(params=["openai-chat", "openai-responses"])
async def gateway(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Gateway]:
    async with before(url, request.param) as gateway:
        yield gateway


async def read(gateway: Gateway, text: str) -> Client:
    async with new_client() as client:
        response = await client.post(
            f"{gateway.url}/api/sessions/s1/chat", json=ask(text), headers=bearer("u1")
        )
    assert response.status_code == 200, response.text
    reader = Client(named=None)
    reader.read(response.content)
    reader.close()
    return reader


def calls(client: Client) -> list[Any]:
    parts = [part for part in client.parts if part["type"].startswith("tool-")]
    return [(part["toolCallId"], part["input"], part.get("errorText", "")) for part in parts]


async def test_text(gateway: Gateway) -> None:
    client = await read(gateway, "say hello")

    assert client.text == "Hello wörld 👋, how are you?"
    assert client.error is None
    assert client.metadata.keys() == {"usage"}


async def test_two_tools_that_nobody_runs(gateway: Gateway) -> None:
    client = await read(gateway, "two tools")

    assert client.text == "Let me look. "
    assert [(call_id, given) for call_id, given, _ in calls(client)] == [
        ("call_1", {"city": "Paris"}),
        ("call_2", {"city": "Rome"}),
    ]
    assert all(error.startswith(NOT_RUN) for _, _, error in calls(client))
    assert client.metadata["finishReason"] == "tool-calls"


async def test_reasoning(gateway: Gateway) -> None:
    client = await read(gateway, "think")

    assert list(client.reasonings.values()) == ["First I consider the question."]
    assert client.text == "Then I answer."


async def test_length(gateway: Gateway) -> None:
    client = await read(gateway, "too long")

    assert (client.text, client.error) == ("cut off he", None)
    assert client.metadata["finishReason"] == "length"


async def test_a_filter(url: str) -> None:
    """Of a response, aimock says only that it failed."""
    async with before(url, "openai-chat") as gateway:
        chat = await read(gateway, "filter")
    async with before(url, "openai-responses") as gateway:
        responses = await read(gateway, "filter")

    assert (chat.text, chat.error) == ("par", None)
    assert chat.metadata["finishReason"] == "content-filter"
    assert (responses.text, responses.error) == ("par", "Turn failed")


@pytest.mark.parametrize("text", ["be slow", "overload"])
async def test_429_and_529_are_503(gateway: Gateway, text: str) -> None:
    async with new_client() as client:
        response = await client.post(
            f"{gateway.url}/api/sessions/s1/chat", json=ask(text), headers=bearer("u1")
        )

    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert "retry-after" in response.headers


async def test_a_cut(gateway: Gateway) -> None:
    client = await read(gateway, "break off")

    assert client.error == "Stream interrupted"
    assert "This will be cut somewhere in the middle of it.".startswith(client.text)
