"""An attempt that is lost, through a gateway: who forgets it, who shows it, and who reads later."""

import asyncio
import json
from typing import Any, Final

import httpx
import pytest

from gateway.clients import Json, ask, chunks, new_client, outline
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.testing.client_model import Client, read
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"
LOST: Final = "The line to the model will break"
PROMPT: Final = "lose an attempt"
RESETS: Final = {"x-turnwire-profile": "7.1"}
NATIVE: Final = {"x-turnwire-profile": "7"}


def behind(agent: ReferenceAgent, **given: Any) -> Gateway:
    return Gateway(agent.url, given={"signing_keys": KEY, "on_disconnect": "continue", **given})


async def call(
    gateway: Gateway, method: str, path: str, headers: dict[str, str] | None = None, **sent: Any
) -> httpx.Response:
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/{path}"
        return await client.request(method, url, headers={**bearer(), **(headers or {})}, **sent)


async def prompt(gateway: Gateway, headers: dict[str, str], **params: str) -> str:
    response = await call(gateway, "POST", "chat", headers, json=ask(PROMPT), params=params)
    assert response.status_code == 200
    return response.text


def texts(client: Client) -> str:
    return "".join(part["text"] for part in client.parts if part["type"] == "text")


@pytest.mark.parametrize("headers", [{}, NATIVE])
async def test_a_client_that_knows_no_reset_goes_on_showing_it(headers: dict[str, str]) -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        client = read((await prompt(gateway, headers)).encode(), native=bool(headers))

    assert LOST in texts(client)
    ends = [part.get("errorText") for part in client.parts if part["type"] == "tool-calculator"]
    assert ends == [None, "Taken back", None]


@pytest.mark.parametrize("how", ["header", "query"])
async def test_a_client_of_7_0_70_forgets_it(how: str) -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        by_header = how == "header"
        headers, params = (RESETS, {}) if by_header else ({}, {"profile": "7.1"})
        body = await prompt(gateway, headers, **params)
        client = read(body.encode(), native=True, resets=True)
        (_, answer) = (await call(gateway, "GET", "messages")).json()

    assert outline(body).count("reset-step") == 1
    assert LOST not in texts(client)
    # It shows what the history has, apart from the words on how far each part is.
    assert [part.get("text") for part in answer["parts"]] == [
        part.get("text") for part in client.parts
    ]


async def test_the_history_has_the_attempt_that_stands() -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        await prompt(gateway, {})
        (_, answer) = (await call(gateway, "GET", "messages")).json()

    assert LOST not in str(answer)
    assert [part["type"] for part in answer["parts"]].count("tool-calculator") == 2


async def left_behind(gateway: Gateway, headers: dict[str, str]) -> None:
    """Hang up when the attempt was lost."""
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/chat"
        asked = client.stream("POST", url, headers={**bearer(), **headers}, json=ask(PROMPT))
        async with asked as response:
            body = ""
            async for text in response.aiter_text():
                body += text
                if "stands:" in body:
                    return


@pytest.mark.parametrize(
    ("headers", "is_shown"), [({}, True), (NATIVE, True), (RESETS, False)], ids=["", "7", "7.1"]
)
async def test_a_client_that_resumes_shows_what_it_would_have_shown(
    headers: dict[str, str],
    is_shown: bool,  # noqa: FBT001 (a parameter of pytest's)
) -> None:
    async with ReferenceAgent(Habits(pace_s=0.02)) as agent, behind(agent) as gateway:
        await left_behind(gateway, headers)
        response = await call(gateway, "GET", "chat/chat-1/stream", headers)
        body = response.text

    resets = headers == RESETS
    client = read(body.encode(), native=bool(headers), resets=resets)
    assert ("reset-step" in outline(body)) == resets
    assert (LOST in texts(client)) == is_shown
    assert texts(client).endswith("That is all.\n")


@pytest.mark.parametrize("is_over", [True, False])
async def test_a_client_that_counts_goes_on_behind_it(*, is_over: bool) -> None:
    counting = {"content-type": "text/plain;charset=UTF-8", **RESETS}
    async with ReferenceAgent(Habits(pace_s=0.01)) as agent, behind(agent) as gateway:
        body, params = json.dumps({**ask(PROMPT), "id": "chat-1"}), {"startIndex": "0"}
        posted = asyncio.create_task(call(gateway, "POST", "chat", counting, content=body))
        if not is_over:
            await until(lambda: agent.journal.runs and agent.journal.runs[0].began)
            run = f"{agent.received[0]['promptId']}.chat-1"
            again = await call(gateway, "GET", f"chat/{run}/stream", RESETS, params=params)
        whole = await posted
        run = whole.headers["x-workflow-run-id"]
        told = chunks(whole.text)
        if not is_over:
            assert numbered(again.text) == numbered(whole.text)
        for index in range(0, len(told), 5):
            params = {"startIndex": str(index)}
            rest = await call(gateway, "GET", f"chat/{run}/stream", RESETS, params=params)
            assert len(chunks(rest.text)) == len(told) - index
            assert deltas(chunks(rest.text)) == deltas(told[index:])

    assert "reset-step" not in [chunk["type"] for chunk in told]
    assert LOST in deltas(told)


def deltas(told: list[Json]) -> str:
    return "".join(chunk["delta"] for chunk in told if chunk["type"] == "text-delta")


def numbered(body: str) -> list[Json | None]:
    """The chunks by their numbers; None is a status, which fills numbers that are left."""
    return [None if each["type"] == "data-agent-status" else each for each in chunks(body)]


@pytest.mark.parametrize(("headers", "told"), [({}, None), (NATIVE, "other"), (RESETS, "other")])
async def test_why_an_answer_is_not_whole(headers: dict[str, str], told: str | None) -> None:
    async with ReferenceAgent() as agent, behind(agent, usage=True) as gateway:
        sent = ask("stop short after too many steps")
        response = await call(gateway, "POST", "chat", headers, json=sent)

    finish = chunks(response.text)[-1]
    assert finish.get("finishReason") == told
    assert finish["messageMetadata"]["finishReason"] == "max-steps"
    assert finish["messageMetadata"]["usage"].keys() >= {"cachedInputTokens", "reasoningTokens"}


async def test_an_input_grows_before_the_eyes_of_every_client() -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        sent = ask("write a query about resume and stop")
        client = read((await call(gateway, "POST", "chat", json=sent)).text.encode())

    (pieces,) = client.pieces.values()
    assert pieces == '{"query":"resume and stop"}'
