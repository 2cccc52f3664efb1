"""What `WorkflowChatTransport` asks and gets, request by request."""

import json
from collections.abc import AsyncIterator

import httpx
import pytest

from gateway.clients import ask, chunks, is_whole, new_client, outline, said
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.web.routes.workflow_transport import WorkflowClient
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

CHAT = "/api/sessions/s1/chat"
TEXT = {"content-type": "text/plain;charset=UTF-8"}


@pytest.fixture
async def agent() -> AsyncIterator[ReferenceAgent]:
    async with ReferenceAgent(Habits(pace_s=0.001)) as agent:
        yield agent


@pytest.fixture
async def gateway(agent: ReferenceAgent) -> AsyncIterator[Gateway]:
    async with Gateway(agent.url) as gateway:
        yield gateway


async def posted(gateway: Gateway, text: str = "what is 12*7?", **more: str) -> httpx.Response:
    async with new_client() as client:
        body = json.dumps(ask(text)).encode()
        headers = {**bearer(), **TEXT, **more}
        return await client.post(gateway.url + CHAT, content=body, headers=headers)


async def got(gateway: Gateway, run: str, index: int | str) -> httpx.Response:
    async with new_client() as client:
        url = f"{gateway.url}{CHAT}/{run}/stream?startIndex={index}"
        return await client.get(url, headers=bearer())


@pytest.mark.sockets
async def test_only_text_plain_has_a_run(gateway: Gateway) -> None:
    workflow = await posted(gateway)
    other = await posted(gateway, **{"content-type": "application/json"})

    assert workflow.headers["x-workflow-run-id"].endswith(".chat-1")
    assert "x-workflow-run-id" not in other.headers
    assert said(workflow.text) == said(other.text)


@pytest.mark.sockets
async def test_the_rest_of_a_turn_that_is_over_from_any_chunk(gateway: Gateway) -> None:
    whole = await posted(gateway, "think about rivers")
    run = whole.headers["x-workflow-run-id"]
    told = chunks(whole.text)

    for index in range(0, len(told), 7):
        rest = await got(gateway, run, index)
        assert chunks(rest.text) == told[index:]
        assert rest.headers["content-type"] == whole.headers["content-type"]
        assert is_whole(rest.text)
    assert outline((await got(gateway, run, 10_000)).text) == ["finish"]
    assert chunks((await got(gateway, run, -3)).text) == told


@pytest.mark.sockets
async def test_the_run_of_a_chat_is_found_on_the_chats_own_channel(agent: ReferenceAgent) -> None:
    async with Gateway(agent.url, threads="chat") as gateway:
        whole = await posted(gateway)
        rest = await got(gateway, whole.headers["x-workflow-run-id"], 3)

    assert whole.headers["x-workflow-run-id"].endswith(".chat-1")
    assert chunks(rest.text) == chunks(whole.text)[3:]


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("run", "index", "status"),
    [
        ("0" * 32, "0", 204),
        ("chat-1", "0", 204),
        ("chat-1", "x", 400),
        ("chat-1", "1" * 20, 400),
        ("chat-1", "", 400),
    ],
)
async def test_what_nobody_knows(gateway: Gateway, run: str, index: str, status: int) -> None:
    await posted(gateway)

    response = await got(gateway, run, index)

    assert response.status_code == status
    assert response.headers["x-request-id"]


@pytest.mark.sockets
async def test_an_agent_that_names_no_prompts_is_taken_at_its_last_turn() -> None:
    habits = Habits(prompt_ids=False)
    async with ReferenceAgent(habits) as agent, Gateway(agent.url) as gateway:
        whole = await posted(gateway)
        rest = await got(gateway, whole.headers["x-workflow-run-id"], 3)

    assert chunks(rest.text) == chunks(whole.text)[3:]


@pytest.mark.sockets
async def test_a_running_turn_outlives_its_connection(
    agent: ReferenceAgent, gateway: Gateway
) -> None:
    async with new_client() as client:
        body = json.dumps(ask("tell me a long story")).encode()
        url = gateway.url + CHAT
        head = {**bearer(), **TEXT}
        async with client.stream("POST", url, content=body, headers=head) as response:
            first = ""
            async for text in response.aiter_text():
                first += text
                if len(chunks(first)) > 20:
                    break
        has = len(chunks(first))
        rest = await got(gateway, response.headers["x-workflow-run-id"], has)

    assert is_whole(rest.text)
    assert (said(first) + said(rest.text)).endswith("and this is the end.")
    assert not any(frame["type"] == "abort" for frame in agent.received)


def test_a_run_waits_for_its_client_unless_it_is_told_otherwise() -> None:
    client = WorkflowClient("p", None)

    assert client.limits(Limits()).on_disconnect is DisconnectPolicy.GRACE
    assert (
        client.limits(Limits(on_disconnect=DisconnectPolicy.CONTINUE)).on_disconnect
        is DisconnectPolicy.CONTINUE
    )
