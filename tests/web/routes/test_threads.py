"""Which channel a request is about."""

from typing import Any

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until

pytestmark = pytest.mark.sockets

DEFAULT, OF_CHAT = ("web", "default"), ("thread", "chat-1")


async def script(line: Line) -> None:
    """Something runs, on whatever channel; a prompt is answered."""
    running = [
        {"id": f"t-{name}", "role": "assistant", "channelType": kind, "channelId": name}
        for kind, name in (DEFAULT, OF_CHAT, ("thread", "t9"), ("slack", "C1"))
    ]
    await line.say({"type": "init", "session": {"messages": running}, "data": {"runnerBusy": True}})
    await until(lambda: line.heard or line.closed)
    if line.of_type("prompt"):
        prompt = line.of_type("prompt")[0]
        origin = {name: prompt[name] for name in ("channelType", "channelId")}
        await line.say(frames.create(prompt["promptId"], **origin), frames.finalize())


@pytest.mark.parametrize(
    ("threads", "params", "channel"),
    [
        ("shared", {}, DEFAULT),
        ("chat", {}, OF_CHAT),
        ("shared", {"threadId": "t9"}, ("thread", "t9")),
        ("chat", {"threadId": "t9"}, ("thread", "t9")),
        ("chat", {"channelType": "slack", "channelId": "C1"}, ("slack", "C1")),
        ("chat", {"channelId": "C1"}, ("web", "C1")),
        ("shared", {"threadId": "t9", "channelId": "C1"}, ("thread", "t9")),
    ],
)
async def test_a_prompt_goes_to_its_channel(
    threads: str, params: dict[str, str], channel: tuple[str, str]
) -> None:
    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url(), threads=threads) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        response = await client.post(url, json=ask(), params=params, headers=bearer())
        prompt = agent.lines[0].of_type("prompt")[0]

    assert response.status_code == 200
    assert (prompt["channelType"], prompt["channelId"]) == channel


@pytest.mark.parametrize("body", [{"id": ""}, {"id": "x" * 257}, {"id": "a\nb"}])
async def test_a_chat_id_that_names_no_thread_is_refused(body: dict[str, Any]) -> None:
    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url(), threads="chat") as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        response = await client.post(url, json={**ask(), **body}, headers=bearer())

        assert response.status_code == 400
        assert agent.connections == 0


async def test_what_comes_without_a_chat_id_is_shared() -> None:
    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url(), threads="chat") as gateway,
        new_client() as client,
    ):
        body = {"message": {"role": "user", "content": "hi"}}
        url = f"{gateway.url}/api/sessions/s1/chat"
        await client.post(url, json=body, headers=bearer())

        assert agent.lines[0].of_type("prompt")[0]["channelId"] == "default"


@pytest.mark.parametrize(
    ("threads", "params", "turn"),
    [
        ("chat", {"chatId": "chat-1"}, "t-chat-1"),
        ("shared", {"chatId": "chat-1"}, "t-default"),
        ("chat", {}, "t-default"),
        ("shared", {"threadId": "t9"}, "t-t9"),
    ],
)
async def test_a_stop_is_about_one_channel(threads: str, params: dict[str, str], turn: str) -> None:
    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url(), threads=threads, verdict_s=0.2) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/stop"
        receipt = (await client.post(url, params=params, headers=bearer())).json()

        assert receipt["turnId"] == turn
        assert [abort["turnId"] for abort in agent.lines[0].aborts] == [turn]


@pytest.mark.parametrize(("threads", "turn"), [("chat", "t-chat-1"), ("shared", "t-default")])
async def test_a_reload_finds_the_turn_of_its_chat(threads: str, turn: str) -> None:
    async with (
        ScriptedAgent(script) as agent,
        Gateway(agent.url(), threads=threads) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat/chat-1/stream"
        async with client.stream("GET", url, headers=bearer()) as response:
            async for line in response.aiter_lines():
                if line.startswith('data: {"type":"start"'):
                    break
            assert f'"messageId":"{turn}"' in line
