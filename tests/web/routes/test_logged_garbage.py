"""What a turn in the turn log was made of goes with it, without the garbage collector.

It has all text of the turn, which would count for nothing until the next collection.
"""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Final

import pytest

from gateway.asking_agent import AskingAgent, call, gateway_of, prompting, resuming
from gateway.clients import chunks, post
from gateway.running import Gateway
from gateway.waiting import until
from support.asking_dialect import Asking, AskingProtocol, Asks, Begun, Called, Over, Text, Waits
from support.framed_transport import FramedConnection, FramedTransport
from turnwire.core.turn.turn import Turn
from turnwire.core.turn_log.continuation import ContinuationProtocol
from turnwire.core.turn_log.protocol import ReaderOutput, ReaderProtocol
from turnwire.core.turn_log.tee import Tee
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.relay.turn_log.memory_turn import MemoryReader, MemoryTurn
from turnwire.relay.turn_log.reader import LogConnection
from turnwire.relay.turn_stream import Stream
from turnwire.web.routes.logged_turn import LoggedTurn

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"
NATIVE: Final = {"x-turnwire-profile": "7"}
OURS: Final = (
    *(AskingProtocol, ContinuationProtocol, FramedConnection, LogConnection, LoggedTurn),
    *(MemoryReader, MemoryTurn, ReaderOutput, ReaderProtocol, Stream, Tee, Turn, UIMessageStream),
)
TURN: Final = (Begun("t1"), Text("Hello"))


@pytest.fixture(autouse=True)
def in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Asking.name, Asking())
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)


@pytest.fixture
async def agent() -> AsyncIterator[AskingAgent]:
    async with AskingAgent() as agent:
        yield agent


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive() -> Counter[str]:
    return Counter(type(each).__name__ for each in gc.get_objects() if isinstance(each, OURS))


async def is_whole(gateway: Gateway, agent: AskingAgent) -> None:
    prompt = asyncio.create_task(post(gateway))
    await (await agent.run()).say(*TURN, Over())
    await prompt


async def is_read(gateway: Gateway, agent: AskingAgent) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*TURN)
        await prompt.sees("Hello")
        async with resuming(gateway) as reader, resuming(gateway) as other:
            await other.sees("Hello")
            await other.hang_up()
            await run.say(Over())
            await reader.end()
        await prompt.end()


async def loses_its_client(gateway: Gateway, agent: AskingAgent) -> None:
    async with prompting(gateway) as prompt:
        await (await agent.run()).say(*TURN)
        await prompt.sees("Hello")


async def is_stopped(gateway: Gateway, agent: AskingAgent) -> None:
    async with prompting(gateway) as prompt:
        await (await agent.run()).say(*TURN)
        await prompt.sees("Hello")
        await call(gateway, "stop", {})
        await prompt.end()


async def is_refused(gateway: Gateway, agent: AskingAgent) -> None:
    agent.status = 503
    await post(gateway)
    agent.status = 200


async def crashes(gateway: Gateway, agent: AskingAgent) -> None:
    prompt = asyncio.create_task(post(gateway))
    run = await agent.run()
    await run.say(*TURN)
    run.crash()
    await prompt


async def comes_in_a_drain(gateway: Gateway, _: AskingAgent) -> None:
    gateway.streams.draining = True
    await post(gateway)
    gateway.streams.draining = False


async def has_no_reader(gateway: Gateway, _: AskingAgent) -> None:
    await call(gateway, "chat/chat-1/stream", method="GET")


async def comes_second(gateway: Gateway, agent: AskingAgent) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*TURN)
        await post(gateway)
        await run.say(Over())
        await prompt.end()


async def waits_and_goes_on(gateway: Gateway, agent: AskingAgent) -> None:
    async with prompting(gateway, headers=NATIVE) as prompt:
        await (await agent.run()).say(*TURN, Called("c1"), Asks("q1", call="c1"), Waits())
        asked = chunks(await prompt.end())
    (approval_id,) = [each["approvalId"] for each in asked if "approvalId" in each]
    given = {"id": approval_id, "approved": True}
    card = {"type": "tool-rm", "toolCallId": "c1", "state": "approval-responded", "input": {}}
    message = {"id": "t1", "role": "assistant", "parts": [card | {"approval": given}]}
    body = {"id": "chat-1", "messages": [message]}
    replying = asyncio.create_task(call(gateway, "chat", body, headers=NATIVE))
    await (await agent.run()).say(Called("c1", "done"), Over())
    assert (await replying).status_code == 200


Happens = Callable[[Gateway, AskingAgent], Awaitable[None]]
ALL: Final = (
    *(is_whole, is_read, loses_its_client, is_stopped, is_refused, crashes, comes_in_a_drain),
    *(has_no_reader, comes_second, waits_and_goes_on),
)


@pytest.mark.parametrize("happens", ALL)
async def test_nothing_is_left_of_a_turn_that(happens: Happens, agent: AskingAgent) -> None:
    async with gateway_of(agent, signing_keys=KEY, turn_log_keep_s=0.001) as gateway:
        before = alive()
        for _ in range(3):
            await happens(gateway, agent)
            await until(lambda: len(gateway.streams) == 0)

        await until(lambda: alive() == before)
