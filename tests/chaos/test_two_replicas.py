"""Two replicas behind a proxy share nothing: what one began, the other goes on with."""

import signal
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from chaos.fronts import Nginx
from gateway.served import Served
from gateway.tokens import token
from gateway.waiting import until
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.client.client import Client
from turnwire_lab.client.errors import Truncated
from turnwire_lab.client.message import UIMessage
from turnwire_lab.client.question import Question
from turnwire_lab.client.stream import Stream

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

PROMPT = "ask me: tea or coffee?"
SESSION = "shared"


async def _question(stream: Stream) -> Question:
    """Read on until something is asked."""
    async for _ in stream:
        for part in stream.message.parts:
            if isinstance(part, Question):
                return part
    raise AssertionError("nothing was asked")


async def _undisturbed(url: str) -> UIMessage:
    async with (
        Client(url, "undisturbed", token("alice")) as client,
        client.chat(PROMPT) as stream,
    ):
        await client.answer((await _question(stream)).id, "tea")
        return await stream.end()


def _told(message: UIMessage) -> list[str]:
    """What is in a message, without the ids that the agent made up."""
    return [f"{type(part).__name__} {getattr(part, 'text', '')}" for part in message.parts]


@pytest.mark.fault(
    "SIGKILL of one of two gateways behind nginx, in mid-turn",
    "the client resumes through the same address on the other gateway, and gets the whole answer",
)
async def test_a_turn_begun_on_one_replica_is_resumed_and_answered_through_the_other(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(ReferenceAgent(Habits()))
        replicas = [
            await stack.enter_async_context(Served(agent.url, on_disconnect="continue"))
            for _ in range(2)
        ]
        front = await stack.enter_async_context(
            Nginx(tmp_path, (replicas[0].port, replicas[1].port))
        )
        expected = await _undisturbed(front.url)
        client = await stack.enter_async_context(Client(front.url, SESSION, token("alice")))
        async with client.chat(PROMPT) as stream:
            asked = await _question(stream)
            (serving,) = [one for one in replicas if (await one.outcomes())["open"]]
            serving.signal(signal.SIGKILL)
            with pytest.raises(Truncated):
                await stream.end()

        (left,) = [one for one in replicas if one is not serving]
        async with client.resume() as resumed:
            assert resumed is not None
            assert (await _question(resumed)).id == asked.id
            await client.answer(asked.id, "tea")
            message = await resumed.end()
        await until(lambda: left.logged("stream ended"))
        (_, history) = await client.messages()

    assert _told(message) == _told(expected)
    assert message == history
