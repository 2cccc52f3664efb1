"""Under the policy `continue` a turn goes on without its client, and its stream with it."""

import asyncio
from typing import Any

import httpx
import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.clients import Chat, RawClient, chatting, post
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

STREAMS = 3


def going_on(agent_url: str, **settings: Any) -> Gateway:
    return Gateway(agent_url, on_disconnect="continue", **settings)


async def left(gateway: Gateway) -> None:
    """Wait until no client is connected."""
    await until(lambda: not gateway.server.server_state.connections)


async def end(line: Line) -> None:
    await line.say(frames.finalize())


async def test_the_agent_goes_on_and_its_stream_ends_with_its_turn() -> None:
    async with ScriptedAgent(begin_only) as agent, going_on(agent.url()) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
        await left(gateway)
        line = agent.lines[0]
        for _ in range(100):
            await line.say(frames.delta("more "))
        assert await (await line.connection.ping()) >= 0  # all of it was read
        assert (line.closed, len(gateway.streams), gateway.ended("client_gone")) == (False, 1, 0)

        await end(line)
        await until(lambda: line.closed)

        assert line.aborts == []
        await gateway.has_ended("client_gone")


@pytest.mark.attack(
    "prompts with the policy `continue`, and each client leaves at once",
    "each stream counts until its turn is over: 429 above the limit of a user",
)
async def test_turns_that_go_on_count_as_their_users_streams() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        going_on(agent.url(), max_streams_per_user=STREAMS) as gateway,
    ):
        for _ in range(STREAMS):
            async with chatting(gateway) as chat:
                await chat.sees("Hello")
        await left(gateway)
        refused = await post(gateway)

        assert refused.status_code == 429
        assert refused.json()["code"] == "too_many_streams"
        assert agent.connections == STREAMS
        await end(agent.lines[0])
        await gateway.has_ended("client_gone")
        async with chatting(gateway) as again:
            await again.sees("Hello")
        for line in agent.lines[1:]:
            await end(line)


@pytest.mark.fault(
    "the client leaves during the dial, with the policy `continue`", "its prompt is sent"
)
async def test_a_client_that_leaves_during_the_dial_loses_no_prompt() -> None:
    async def late(line: Line) -> None:
        await line.begin()
        await end(line)

    admits = asyncio.Event()
    async with ScriptedAgent(late, admits=admits) as agent, going_on(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            await client.chat()
            await until(lambda: agent.connections)
            client.hang_up()
        await left(gateway)
        admits.set()
        line = await agent.line()

        assert (await line.prompt())["content"] == "hi"
        await gateway.has_ended("client_gone")


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.fault(
    "the client leaves before the agent has its prompt, with the policy `continue`",
    "its prompt is sent when it is next",
)
async def test_prompts_that_wait_for_the_floor_are_asked_though_their_clients_left(
    revision: Revision,
) -> None:
    async with (
        SessionAgent(Habits(revision=revision, init_delay_s=0.3)) as agent,
        going_on(agent.url, dialect="session-agent") as gateway,
    ):
        async with asyncio.TaskGroup() as clients:
            for number in range(STREAMS):
                clients.create_task(leave_at_once(gateway, f"what is {number}+1?"))
        await left(gateway)

        await until(lambda: len(prompts(agent)) == STREAMS)

        # A prompt that waits is replaced by the next one on A and V.
        await until(lambda: gateway.ended("client_gone") + gateway.ended("abandoned") == STREAMS)
        assert gateway.ended("client_gone")


async def leave_at_once(gateway: Gateway, text: str) -> None:
    """Post a prompt, and hang up before there is an answer."""
    open_before = len(gateway.streams)
    posting = asyncio.create_task(post(gateway, text=text))
    await until(lambda: len(gateway.streams) > open_before)
    posting.cancel()
    await asyncio.wait([posting])


def prompts(agent: SessionAgent) -> list[object]:
    return [frame for frame in agent.received if frame["type"] == "prompt"]


async def test_a_gateway_that_stops_waits_for_none_that_goes_on_by_itself() -> None:
    async with ScriptedAgent(begin_only) as agent, going_on(agent.url(), drain_s=30) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
        await left(gateway)

        gateway.stop()
        await gateway.stopped()

        await until(lambda: agent.lines[0].closed)
        assert agent.lines[0].aborts == []
        assert gateway.ended("client_gone") == 1


async def test_a_resumed_stream_ends_with_its_client() -> None:
    async def tell(line: Line) -> None:
        await line.say(
            {
                "type": "init",
                "data": {"runningTurnId": "t1"},
                "session": {"messages": [{"id": "t1", "role": "assistant", "parts": []}]},
            }
        )

    async with ScriptedAgent(tell) as agent, going_on(agent.url()) as gateway:
        url = f"{gateway.url}/api/sessions/s1/chat/c1/stream"
        async with (
            httpx.AsyncClient(trust_env=False) as client,
            client.stream("GET", url, headers=bearer()) as response,
        ):
            chat = Chat(response)
            await chat.sees("start-step")
            await chat.hang_up()
        await gateway.has_ended("client_gone")
        assert agent.lines[0].aborts == []
