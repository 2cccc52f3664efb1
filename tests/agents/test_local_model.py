"""A real model on this machine, by llama.cpp, behind the gateway: both wires of OpenAI's APIs.

It says what it likes. What is tried is the server's wire, and not the model.
"""

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from gateway.clients import ask, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire.testing.client_model import Client
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import LOCAL_MODEL, OTHER_AGENTS

pytestmark = pytest.mark.sockets

LIMITS: Final = {"openai-chat": "max_tokens", "openai-responses": "max_output_tokens"}


@pytest.fixture
async def model() -> AsyncIterator[FrameworkAgent]:
    if not OTHER_AGENTS[LOCAL_MODEL].python.exists():
        pytest.skip("the weights are installed by `make agents`")
    async with FrameworkAgent(LOCAL_MODEL) as model:
        yield model


def before(model: FrameworkAgent, wire: str, tokens: int) -> Gateway:
    given = {"agent_model": "smollm2", "agent_auth": "none", "usage": "true"}
    return Gateway(
        model.url, given=given, dialect=wire, agent_request=f'{{"{LIMITS[wire]}":{tokens}}}'
    )


async def chat(gateway: Gateway, body: Any) -> Client:
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/chat"
        response = await client.post(url, json=body, headers=bearer("u1"))
    assert response.status_code == 200, response.text
    reader = Client(named=None)
    reader.read(response.content)
    reader.close()
    return reader


@pytest.mark.parametrize("wire", LIMITS)
async def test_it_answers_and_is_asked_again(model: FrameworkAgent, wire: str) -> None:
    async with before(model, wire, 24) as gateway:
        first = await chat(gateway, ask("Say hello in one short sentence."))
        answer = {"id": first.message_id, "role": "assistant", "parts": first.parts}
        again = {"id": "m2", "role": "user", "parts": [{"type": "text", "text": "And again."}]}
        messages = [*ask("Say hello in one short sentence.")["messages"], answer, again]
        second = await chat(gateway, ask() | {"messages": messages})

    assert (first.error, second.error) == (None, None)
    assert first.text
    assert second.text
    counts = first.metadata["usage"]
    assert counts["total_tokens"] > 0


async def test_an_answer_that_is_cut_says_so(model: FrameworkAgent) -> None:
    async with before(model, "openai-chat", 5) as gateway:
        client = await chat(gateway, ask("Tell me a long story about a river."))

    assert (client.error, client.metadata["finishReason"]) == (None, "length")


@pytest.mark.parametrize("wire", LIMITS)
async def test_a_hang_up_ends_the_answer(model: FrameworkAgent, wire: str) -> None:
    async with before(model, wire, 600) as gateway:
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/chat"
            body = ask("Tell me a very long story about a river.")
            async with client.stream("POST", url, json=body, headers=bearer("u1")) as response:
                async for piece in response.aiter_bytes():
                    if b"text-delta" in piece:
                        break
        await gateway.has_ended("client_gone")
