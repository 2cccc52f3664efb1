"""A client that hangs up, or stops its turn, and sends again at once: the next prompt waits."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.asking_agent import AskingAgent, call, gateway_of, prompt_of, prompting
from gateway.clients import is_whole, said
from gateway.running import Gateway
from gateway.waiting import until
from support.asking_dialect import Asking, Begun, Over, Text
from support.framed_transport import FramedTransport
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.relay.turn_log import patient_claims
from turnwire.relay.turn_log.patient_claims import ENDING_S, PatientClaims
from turnwire.web.routes.chat import Chat

pytestmark = pytest.mark.sockets

BEGUN = (Begun("t1"), Text("Hello"))
END = (Text(" world"), Over())


@pytest.fixture(autouse=True)
def in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Asking.name, Asking())
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)


@pytest.fixture
async def agent() -> AsyncIterator[AskingAgent]:
    async with AskingAgent() as agent:
        yield agent


@pytest.fixture
async def gateway(agent: AskingAgent) -> AsyncIterator[Gateway]:
    async with gateway_of(agent) as gateway:
        yield gateway


def claims_of(gateway: Gateway) -> PatientClaims:
    endpoints = [getattr(route, "endpoint", None) for route in gateway.app.routes]
    (chat,) = (each for each in endpoints if isinstance(each, Chat))
    return chat.app_context.patient_claims


async def test_a_prompt_may_follow_the_hang_up_at_once(
    agent: AskingAgent, gateway: Gateway
) -> None:
    for number in range(50):
        async with prompting(gateway, body=prompt_of(f"m{number}")) as prompt:
            assert prompt.response.status_code == 200
            run = await agent.run()
            assert run.run.prompt == f"m{number}"
            await run.say(*BEGUN)
            await prompt.sees("Hello")

    assert agent.asked == 50
    await gateway.has_ended("client_gone", times=50)


async def test_a_prompt_that_overtakes_the_hang_up_waits_for_it(
    agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway, body=prompt_of("m1")) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        following = asyncio.create_task(call(gateway, "chat", prompt_of("m2")))
        await asyncio.sleep(0.06)
        assert not following.done()
        assert agent.runs.empty()
    await until(lambda: run.has_left)
    await (await agent.run()).say(*BEGUN, *END)

    answer = await following
    assert answer.status_code == 200
    assert said(answer.text) == "Hello world"
    assert is_whole(answer.content)


@pytest.mark.parametrize("policy", ["abort", "grace", "continue"])
async def test_a_turn_that_goes_on_is_a_conflict(
    policy: str, agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway, policy=policy, body=prompt_of("m1")) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        if policy != "abort":
            await prompt.hang_up()
        began = asyncio.get_running_loop().time()
        second = await call(gateway, "chat", prompt_of("m2"))
        took_s = asyncio.get_running_loop().time() - began
        await run.say(*END)
    await gateway.has_ended("completed" if policy == "abort" else "client_gone")

    assert (second.status_code, second.json()["code"]) == (409, "another_turn")
    assert took_s < ENDING_S / 2
    assert agent.asked == 1


@pytest.mark.parametrize("policy", ["abort", "continue"])
async def test_a_prompt_that_is_sent_again_runs_once(
    policy: str, agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway, policy=policy, body=prompt_of("m1")) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        again = await call(gateway, "chat", prompt_of("m1"))
        await run.say(*END)
        await prompt.end()

    assert again.status_code == 409
    assert agent.asked == 1


@pytest.mark.parametrize(
    "more", [{"trigger": "regenerate-message"}, {"messageId": "m1"}], ids=["again", "edited"]
)
async def test_another_answer_to_the_same_message_may_follow_the_hang_up(
    more: dict[str, str], agent: AskingAgent, gateway: Gateway
) -> None:
    for _ in range(5):
        async with prompting(gateway, body=prompt_of("m1", **more)) as prompt:
            assert prompt.response.status_code == 200
            await (await agent.run()).say(*BEGUN)
            await prompt.sees("Hello")

    await gateway.has_ended("client_gone", times=5)


async def test_a_prompt_may_come_while_the_turn_is_stopped(
    agent: AskingAgent, gateway: Gateway
) -> None:
    for number in range(10):
        async with prompting(gateway, body=prompt_of(f"m{number}")) as prompt:
            await (await agent.run()).say(*BEGUN)
            await prompt.sees("Hello")
            stopping = asyncio.create_task(call(gateway, "stop", {}))
            following = asyncio.create_task(call(gateway, "chat", prompt_of(f"n{number}")))
            run = await agent.run()
            assert run.run.prompt == f"n{number}"
            await run.say(*BEGUN, *END)
            assert (await following).status_code == 200
            assert (await stopping).status_code == 200
            await prompt.end()


@pytest.mark.parametrize("policy", ["abort", "continue"])
async def test_a_client_that_hangs_up_while_its_prompt_waits(
    policy: str, agent: AskingAgent, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under `continue` its prompt is still sent."""
    monkeypatch.setattr(patient_claims, "UNNOTICED_S", 120)
    async with prompting(gateway, body=prompt_of("m1")) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        waiting = asyncio.create_task(
            call(gateway, "chat", prompt_of("m2"), params={"onDisconnect": policy})
        )
        claims = claims_of(gateway)
        await until(lambda: len(claims) == 1)
        waiting.cancel()
        await asyncio.wait([waiting])
        if policy == "abort":
            await until(lambda: len(claims) == 0)
        await run.say(*END)
        await prompt.end()
        if policy == "continue":
            following = await agent.run()
            assert following.run.prompt == "m2"
            await following.say(*BEGUN, *END)
            await gateway.has_ended("client_gone")

    assert agent.asked == (2 if policy == "continue" else 1)
