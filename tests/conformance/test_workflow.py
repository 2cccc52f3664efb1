"""`WorkflowChatTransport` takes a broken stream up by itself: nothing is lost, nothing doubled."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from conformance.workflow import BreakingLine, Played, play
from gateway.process import Process
from gateway.running import Gateway
from gateway.tokens import bearer, token
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.parts import Question as Asked
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.client.client import Client
from turnwire_lab.client.message import UIMessage, read
from turnwire_lab.client.question import Question
from turnwire_lab.process import free_port

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

PATH = "/api/sessions/s1/chat"


@pytest.fixture
async def agent() -> AsyncIterator[ReferenceAgent]:
    async with ReferenceAgent(Habits(pace_s=0.004)) as agent:
        yield agent


def held(played: Played) -> UIMessage:
    """What the client holds of the answer."""
    assert (played.status, played.error, played.timed_out) == ("ready", None, False)
    assert len(played.messages) == 2
    return read(b"[%b]" % bytes(played.messages[1]))[0]


async def last_message(url: str) -> UIMessage:
    """The answer as the history has it."""
    async with Client(url, "s1", token()) as client:
        return (await client.messages())[-1]


async def test_what_the_transport_sends_and_needs(agent: ReferenceAgent) -> None:
    async with Gateway(agent.url) as gateway:
        played = await play(gateway.url + PATH, "what is 12*7?", bearer())

        assert held(played) == await last_message(gateway.url)
    (asked,) = played.requests
    assert (asked.method, asked.type) == ("POST", "text/plain;charset=UTF-8")
    assert asked.run is not None


@pytest.mark.parametrize(
    "prompt",
    ["what is 12*7?", "tell me a long story", "think about rivers", "search for keepalive"],
)
@pytest.mark.parametrize("seed", range(2))
async def test_a_stream_that_breaks_anywhere_is_whole_in_the_end(
    agent: ReferenceAgent, prompt: str, seed: int
) -> None:
    dice = random.Random(f"{prompt} {seed}")  # noqa: S311 - the same breaks every time
    breaks = [dice.randint(450, 1500) for _ in range(1 + 2 * seed)]  # at four it gives up
    async with Gateway(agent.url) as gateway, BreakingLine(gateway.port, breaks) as line:
        played = await play(line.url + PATH, prompt, bearer())

        assert held(played) == await last_message(gateway.url)
        assert line.broken > 0
        assert len(played.requests) == 1 + line.broken
        assert {asked.status for asked in played.requests} == {200}


async def test_an_approval_on_a_line_that_breaks(agent: ReferenceAgent) -> None:
    breaks = [1200, 700, 900]
    async with Gateway(agent.url) as gateway, BreakingLine(gateway.port, breaks) as line:
        playing = asyncio.create_task(play(line.url + PATH, "approve two things", bearer()))
        await agent.until(lambda: any(_open(agent)))
        async with Client(gateway.url, "s1", token()) as client:
            while not playing.done() and agent.session("s1").running is not None:
                for question in _open(agent):
                    await client.answer(question, "approve")
                await asyncio.sleep(0.01)
        played = await playing

        message = held(played)
        whole = await last_message(gateway.url)
        key = repr  # questions and calls stand in the order of their telling, not of their end
        assert sorted(message.parts, key=key) == sorted(whole.parts, key=key)
        assert [p.state for p in message.parts if isinstance(p, Question)] == ["resolved"] * 2
        assert line.broken > 0


async def test_a_turn_that_ended_while_nobody_was_connected(agent: ReferenceAgent) -> None:
    """The gateway may forget all of it, too: what is told comes from the agent."""
    port = free_port()
    settings = {"port": port, "on_disconnect": "continue"}
    async with BreakingLine(port, [1500], holds=True) as line:
        async with Process(agent.url, **settings):
            playing = asyncio.create_task(play(line.url + PATH, "tell me a long story", bearer()))
            await agent.until(lambda: line.broken > 0)
            await agent.until(lambda: agent.session("s1").running is None)
        async with Process(agent.url, **settings) as gateway:
            line.opened.set()
            played = await playing

            assert held(played) == await last_message(gateway.url)


async def test_the_turn_of_somebody_else_is_not_taken_for_the_own(agent: ReferenceAgent) -> None:
    async with Gateway(agent.url) as gateway, Client(gateway.url, "s1", token()) as client:
        played = await play(gateway.url + PATH, "what is 12*7?", bearer())
        run = played.requests[0].run
        async with client.chat("hang", on_disconnect="abort") as stream:
            async for _ in stream:
                break
            response = await client._http.get(f"{client.url}/chat/{run}/stream?startIndex=3")

    assert response.status_code == 200
    assert "84" in response.text
    assert '"finish"' in response.text
    assert "until somebody stops me" not in response.text


def _open(agent: ReferenceAgent) -> list[str]:
    turn = agent.session("s1").running
    parts = [] if turn is None else turn.entry.parts
    return [part.id for part in parts if isinstance(part, Asked) and part.is_open]
