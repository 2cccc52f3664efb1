"""Vue, Svelte, assistant-ui and the fetch of Expo, in conversation with an agent over a gateway."""

import asyncio
from typing import Final

import pytest

from conformance import assistant
from conformance.assistant import Threads
from conformance.clients import CLIENTS, FRAMEWORKS, Job
from conformance.frameworks import EXPO, NONE
from conformance.live import CONVERSATIONS, SETTINGS, Live, converse, job, normalized
from gateway.tokens import KEY, bearer
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.gateway import Gateway

# The first test waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

PACE: Final = Habits(pace_s=0.005)
STOP: Final[Job] = {"send": "tell me a long story", "stop": 8, "named": True}


def in_both_ways(client: str) -> list[Job]:
    return [
        job(client, f"{name}{mark}", *actions, **way)
        for name, actions in CONVERSATIONS.items()
        for mark, way in (("", {}), (" alone", NONE))
    ]


def stopped_in_expo(client: str) -> list[Job]:
    return [job(client, f"stopped {sdk}", STOP, {"reload": True}, expo=sdk) for sdk in EXPO]


@pytest.fixture(scope="module")
def live() -> Live:
    return asyncio.run(converse(in_both_ways, PACE, clients=FRAMEWORKS))


@pytest.mark.parametrize("client", FRAMEWORKS)
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_framework_changes_nothing(client: str, name: str, live: Live) -> None:
    report = live.reports[client]
    own, alone = report.job(name), report.job(f"{name} alone")

    assert (own.timed_out, report.unhandled) == (False, [])
    assert (own.status, own.error, own.errors) == (alone.status, alone.error, alone.errors)
    assert own.posts == alone.posts  # the turn may be over when it is resumed: 204, not 200
    assert normalized(client, own.messages) == normalized(client, alone.messages)
    assert name == "refused" or own.answers[-1].parts != []


def test_a_turn_that_is_stopped_at_the_gateway_is_over_in_expo() -> None:
    newest = CLIENTS[-1]
    report = asyncio.run(converse(stopped_in_expo, PACE, clients=[newest])).reports[newest]

    for sdk in EXPO:
        stopped = report.job(f"stopped {sdk}")
        assert (stopped.status, stopped.error, stopped.timed_out) == ("ready", None, False)
        assert [receipt["stopped"] for receipt in stopped.receipts] == [True]
        assert normalized(newest, stopped.earlier[-1]) == normalized(newest, stopped.messages)


async def threads() -> Threads:
    asked: Job = {"name": "two prompts", "headers": bearer()}
    async with (
        ReferenceAgent(PACE) as agent,
        Gateway(agent_url=agent.url, jwt_key=KEY, settings=SETTINGS) as gateway,
    ):
        asked |= {"url": f"{gateway.url}/api/sessions/s1/chat"}
        asked |= {"prompts": ["what is 12*7?", "divide 1 by 0"]}
        return await asyncio.to_thread(assistant.play, [asked])


def test_assistant_ui_converses_over_its_own_transport() -> None:
    """It sends fields of its own beside the messages, which no other client does."""
    played = asyncio.run(threads())

    thread = played.job("two prompts")
    assert (thread.posts, thread.errors, thread.timed_out, played.unhandled) == (2, [], False, [])
    assert [message.role for message in thread.messages] == ["user", "assistant"] * 2
    calls = [
        part
        for message in thread.answers
        for part in message.content
        if part["type"] == "tool-call"
    ]
    assert [(call["toolName"], call["isError"]) for call in calls] == [
        ("calculator", False),
        ("calculator", True),
    ]
    assert calls[0]["result"]["value"] == 84
    assert calls[1]["result"] == {"error": "Division by zero."}
