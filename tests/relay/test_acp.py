"""`acp` over a socket: a stop is over when the agent says so; only then the next prompt runs."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from gateway.acp_agent import SESSION, begin, of_method, response, text
from gateway.agent import Line, ScriptedAgent
from gateway.asgi import Exchange
from gateway.asking_agent import call, prompt_of, prompting
from gateway.clients import Chat, ask, chatting, outline, post
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.relay.turn_log.patient_claims import UNNOTICED_S

pytestmark = pytest.mark.sockets


def gateway_of(agent: ScriptedAgent, **more: Any) -> Gateway:
    return Gateway(agent.url(), dialect="acp", agent_cwd="/srv/project", **more)


async def stop(gateway: Gateway) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, timeout=25) as client:
        return await client.post(
            f"{gateway.url}/api/sessions/s1/stop", json={}, headers=bearer("u1")
        )


async def running(agent: ScriptedAgent, chat: Chat) -> Line:
    await chat.sees("Hello")
    return await agent.line()


async def test_a_stop_is_over_when_the_agent_has_said_so() -> None:
    async with (
        ScriptedAgent(begin) as agent,
        gateway_of(agent) as gateway,
        chatting(gateway) as chat,
    ):
        line = await running(agent, chat)
        stopping = asyncio.create_task(stop(gateway))
        await until(lambda: of_method(line, "session/cancel"))
        early = await post(gateway, text="and now?")
        assert not stopping.done()
        assert not line.closed

        await line.say(text("late"), response(10, stopReason="cancelled"))
        stopped, body = await stopping, await chat.end()
        following = asyncio.create_task(post(gateway, text="and now?"))
        next_line = await agent.line(1)
        await until(lambda: of_method(next_line, "session/prompt"))
        await next_line.say(text("Again"), response(10, stopReason="end_turn"))
        told = (await following).text

    assert (early.status_code, early.json()["code"]) == (409, "another_turn")
    assert (stopped.status_code, stopped.json()["reason"]) == (200, "canceled")
    assert outline(body)[-2:] == ["abort", "finish"]
    assert b"late" not in body
    assert of_method(next_line, "session/load")[0]["params"]["sessionId"] == SESSION
    assert "Again" in told
    assert "before" not in told


async def test_a_client_that_hangs_up_keeps_the_connection_until_then() -> None:
    async with ScriptedAgent(begin) as agent, gateway_of(agent) as gateway:
        async with chatting(gateway) as chat:
            line = await running(agent, chat)
        await until(lambda: of_method(line, "session/cancel"))
        await asyncio.sleep(0.1)
        assert not line.closed

        await line.say(response(10, stopReason="cancelled"))

        await until(lambda: line.closed)
        await gateway.has_ended("client_gone")


@pytest.mark.parametrize("ending", ["hang-up", "grace", "stop"])
async def test_the_next_prompt_waits_until_then(ending: str) -> None:
    policy = "grace" if ending == "grace" else "abort"
    async with (
        ScriptedAgent(begin) as agent,
        gateway_of(agent, grace_s=0.2) as gateway,
        prompting(gateway, policy=policy) as chat,
    ):
        line = await running(agent, chat)
        stopping = asyncio.create_task(stop(gateway)) if ending == "stop" else None
        if stopping is None:
            await chat.hang_up()
        if ending == "grace":
            await until(lambda: of_method(line, "session/cancel"))
        following = asyncio.create_task(call(gateway, "chat", prompt_of("m2")))
        await until(lambda: of_method(line, "session/cancel"))
        await asyncio.sleep(3 * UNNOTICED_S)
        assert not following.done()
        assert len(agent.lines) == 1
        await line.say(response(10, stopReason="cancelled"))
        next_line = await agent.line(1)
        await until(lambda: of_method(next_line, "session/prompt"))
        await next_line.say(text(" again"), response(10, stopReason="end_turn"))

        assert "again" in (await following).text
        assert stopping is None or (await stopping).status_code == 200


async def test_a_stop_ends_with_a_stream_that_a_server_cancels() -> None:
    """Ours cancels none, but the application may run under another one."""
    headers = [*bearer("u1").items(), ("content-type", "application/json")]
    async with ScriptedAgent(begin) as agent, gateway_of(agent) as gateway:
        exchange = Exchange(gateway.app, headers=headers, body=[json.dumps(ask()).encode()])
        streaming = asyncio.create_task(exchange.run())
        await until(lambda: any(b"Hello" in each for each in exchange.bodies))
        line = await agent.line()
        stopping = asyncio.create_task(stop(gateway))
        await until(lambda: of_method(line, "session/cancel"))
        assert not stopping.done()

        streaming.cancel()
        await asyncio.wait([streaming])
        stopped = await stopping

    assert stopped.status_code == 200
    assert stopped.json()["stopped"]


async def test_a_prompt_of_another_chat_does_not_wait() -> None:
    async def answer(line: Line) -> None:
        await begin(line)
        if len(agent.lines) > 1:
            await line.say(response(10, stopReason="end_turn"))

    async with (
        ScriptedAgent(answer) as agent,
        gateway_of(agent) as gateway,
        chatting(gateway) as chat,
    ):
        line = await running(agent, chat)
        stopping = asyncio.create_task(stop(gateway))
        await until(lambda: of_method(line, "session/cancel"))
        other = await post(gateway, session="s2")
        await line.say(response(10, stopReason="cancelled"))
        await stopping

    assert other.status_code == 200
    assert "Hello" in other.text
