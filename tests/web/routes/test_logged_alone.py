"""A turn in the turn log goes on without its client, however the client was lost."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

import pytest

from gateway.asking_agent import AgentRun, AskingAgent, call, gateway_of, prompting, resuming
from gateway.clients import SMALL_BUFFER, RawClient, ask, errors, is_whole, request, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from support.asking_dialect import Asking, Asks, Begun, Over, Text, Waits
from support.framed_transport import FramedTransport
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS

pytestmark = pytest.mark.sockets

PIECE = 50_000


@pytest.fixture(autouse=True)
def in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Asking.name, Asking())
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)


@pytest.fixture
async def agent() -> AsyncIterator[AskingAgent]:
    async with AskingAgent() as agent:
        yield agent


def gateway_for(agent: AskingAgent, policy: str, **more: object) -> Gateway:
    return gateway_of(agent, on_disconnect=policy, **more)


async def flood(run: AgentRun, gateway: Gateway, outcome: str = "") -> int:
    """Say much, until the gateway has cut its client off, which does not read. How often?"""
    await run.say(Begun("t1"))
    for number in range(1, 1_000):
        await run.say(Text("x" * PIECE))
        await asyncio.sleep(0)
        if not gateway.server.server_state.connections:
            return number
    raise AssertionError(outcome)


@pytest.mark.parametrize("policy", ["continue", "grace"])
async def test_a_client_that_does_not_read_is_cut_and_its_turn_goes_on(
    policy: str, agent: AskingAgent
) -> None:
    bounds = {"turn_log_bytes": 64_000_000, "backlog_bytes": 100_000, "stall_s": 0.5}
    async with gateway_for(agent, policy, **bounds) as gateway:
        gateway.narrow()
        async with RawClient(gateway, receive_buffer=SMALL_BUFFER) as client:
            await client.chat()
            run = await agent.run()
            count = await asyncio.wait_for(flood(run, gateway), 30)
            # The turn asks, and goes on with another connection: that one is read, too.
            await run.say(Asks("q1"), Waits())
            run.leave()
            async with resuming(gateway) as reader:
                await reader.sees("q1")
                answer = {"questionId": "q1", "answer": 1}
                assert (await call(gateway, "answer", answer)).status_code == 202
                second = await agent.run()
                for _ in range(20):
                    await second.say(Text("y" * PIECE))
                await second.say(Over())
                body = await reader.end()
        await gateway.has_ended("slow_client")
        assert gateway.dialler.budget.held_bytes == 0

    assert len(said(body)) == (count + 20) * PIECE
    assert is_whole(body)
    assert errors(body) == []


@pytest.mark.parametrize("policy", ["continue", "grace"])
async def test_a_client_that_hangs_up_before_the_agent_answers_finds_the_turn(
    policy: str, agent: AskingAgent
) -> None:
    agent.holds = asyncio.Event()
    async with gateway_for(agent, policy) as gateway:
        async with RawClient(gateway) as client:
            await client.chat()
            await until(lambda: agent.asked)
        await until(lambda: not gateway.server.server_state.connections)
        async with resuming(gateway) as reader:
            agent.holds.set()
            await (await agent.run()).say(Begun("t1"), Text("Hello"), Over())
            body = await reader.end()

    assert said(body) == "Hello"
    assert is_whole(body)


@pytest.mark.parametrize("policy", ["abort", "grace"])
async def test_without_a_log_a_hang_up_before_the_agent_answers_ends_the_turn(
    policy: str, agent: AskingAgent
) -> None:
    agent.holds = asyncio.Event()
    async with gateway_for(agent, policy, turn_log="off") as gateway:
        async with RawClient(gateway) as client:
            await client.chat()
            await until(lambda: agent.asked)
        await gateway.has_ended("client_gone")
        agent.holds.set()


@pytest.mark.parametrize("policy", ["continue", "grace"])
async def test_a_token_that_expires_ends_the_response_and_not_the_turn(
    policy: str, agent: AskingAgent
) -> None:
    headers = bearer(exp=int(time.time()) + 2)
    async with (
        gateway_for(agent, policy, token_expiry="cut") as gateway,
        prompting(gateway, headers=headers) as prompt,
    ):
        run = await agent.run()
        await run.say(Begun("t1"), Text("Hello"))
        first = await prompt.end()
        assert errors(first) == ["The token has expired"]
        assert is_whole(first)
        await run.say(Text(" there"))
        async with resuming(gateway) as reader:
            await reader.sees("there")
            await run.say(Over())
            body = await reader.end()
        await gateway.has_ended("expired")
        async with resuming(gateway) as late:
            again = await late.end()

    assert said(body) == said(again) == "Hello there"
    assert errors(body) == []


async def test_under_grace_the_time_begins_anew_when_the_last_reader_left(
    agent: AskingAgent,
) -> None:
    async with gateway_for(agent, "grace", grace_s=0.3) as gateway:
        async with prompting(gateway) as prompt:
            run = await agent.run()
            await run.say(Begun("t1"), Text("Hello"))
            await prompt.sees("Hello")
        for _ in range(2):
            async with resuming(gateway) as reader:
                await reader.sees("Hello")
                await asyncio.sleep(0.4)
                await run.say(Text("x"))
                await reader.sees("x")
        assert not run.has_left

        await until(lambda: run.has_left)
        await gateway.has_ended("client_gone", times=3)


async def test_the_same_connection_takes_the_next_request_after_an_expired_token(
    agent: AskingAgent,
) -> None:
    async with gateway_for(agent, "continue", token_expiry="cut") as gateway:
        async with RawClient(gateway) as client:
            await client.chat(**bearer(exp=int(time.time()) + 1))
            run = await agent.run()
            await run.say(Begun("t1"), Text("Hello"))
            got = b""
            while b"[DONE]" not in got:
                got += await client.read()
            body = json.dumps(ask()).encode()
            await client.send(request(body))
            while b"another_turn" not in got:
                got += await client.read()
        await run.say(Over())
        await gateway.has_ended("expired")
