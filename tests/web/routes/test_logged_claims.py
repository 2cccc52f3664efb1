"""A prompt that is refused, or never begins, leaves the last turn of its chat as it was."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest

from gateway.asking_agent import AskingAgent, call, gateway_of, prompting, resuming
from gateway.clients import ask, chunks, errors, is_whole, post, said
from gateway.running import Gateway
from gateway.waiting import until
from support.asking_dialect import Asking, Asks, Begun, Called, Over, Text, Waits
from support.framed_transport import FramedTransport
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"
NATIVE: Final = {"x-turnwire-profile": "7"}


@pytest.fixture(autouse=True)
def in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Asking.name, Asking())
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)


@pytest.fixture
async def agent() -> AsyncIterator[AskingAgent]:
    async with AskingAgent() as agent:
        yield agent


async def missed_turn(gateway: Gateway, agent: AskingAgent) -> None:
    """A turn that is over, whose client left before its end."""
    async with prompting(gateway, policy="continue") as prompt:
        run = await agent.run()
        await run.say(Begun("t1"), Text("important"))
        await prompt.sees("important")
    await run.say(Over())
    await gateway.has_ended("client_gone")


async def approval(gateway: Gateway, agent: AskingAgent) -> None:
    """A turn that waits for an approval."""
    async with prompting(gateway, headers=NATIVE) as prompt:
        run = await agent.run()
        await run.say(Begun("t1"), Text("important"), Called("c1"), Asks("q1", call="c1"), Waits())
        await prompt.end()
    await gateway.has_ended("asked")


async def is_refused(gateway: Gateway, status: int, **request: dict[str, str]) -> None:
    assert (await post(gateway, **request)).status_code == status  # type: ignore[arg-type]


async def odd_policy(gateway: Gateway, _: AskingAgent) -> None:
    await is_refused(gateway, 400, params={"onDisconnect": "odd"})


async def odd_profile(gateway: Gateway, _: AskingAgent) -> None:
    await is_refused(gateway, 400, params={"profile": "5"})


async def refused_by_the_agent(gateway: Gateway, agent: AskingAgent) -> None:
    agent.status = 503
    response = await post(gateway)
    agent.status = 200
    assert response.status_code == 503 or errors(response.text)


async def agent_is_down(gateway: Gateway, agent: AskingAgent) -> None:
    await agent.close()
    assert errors((await post(gateway)).text) == ["Connection failed"]
    await agent.listen()


async def hung_up_before_a_word(gateway: Gateway, agent: AskingAgent) -> None:
    async with prompting(gateway):
        run = await agent.run()
    await until(lambda: run.has_left)


async def agent_says_nothing(gateway: Gateway, agent: AskingAgent) -> None:
    async with prompting(gateway) as prompt:
        (await agent.run()).crash()
        assert errors(await prompt.end()) == ["Stream interrupted"]


Refusal = Callable[[Gateway, AskingAgent], Awaitable[None]]
REFUSALS: Final = (
    odd_policy,
    odd_profile,
    refused_by_the_agent,
    agent_is_down,
    hung_up_before_a_word,
    agent_says_nothing,
)


@pytest.mark.parametrize("former", [missed_turn, approval])
@pytest.mark.parametrize("refusal", REFUSALS)
async def test_the_last_turn_is_there_after_a_prompt_that_never_began(
    refusal: Refusal, former: Refusal, agent: AskingAgent
) -> None:
    async with gateway_of(agent, signing_keys=KEY) as gateway:
        await former(gateway, agent)
        for _ in range(2):
            await refusal(gateway, agent)
        await until(lambda: gateway.counted("turnwire_turn_log_turns") == 1)

        async with resuming(gateway, headers=NATIVE, user="u1") as reader:
            body = await reader.end()

    assert reader.response.status_code == 200
    assert said(body) == "important"
    assert is_whole(body)


async def test_an_approval_is_answered_after_a_prompt_that_was_refused(agent: AskingAgent) -> None:
    async with gateway_of(agent, signing_keys=KEY) as gateway:
        await approval(gateway, agent)
        await odd_policy(gateway, agent)
        await agent_is_down(gateway, agent)
        async with resuming(gateway, headers=NATIVE, user="u1") as reader:
            body = await reader.end()
        (asked,) = [each for each in chunks(body) if each["type"] == "tool-approval-request"]
        given = {"id": asked["approvalId"], "approved": True}
        card = {"type": "tool-rm", "toolCallId": "c1", "state": "approval-responded", "input": {}}
        parts = [{"type": "text", "text": "important"}, card | {"approval": given}]
        message = {"id": "t1", "role": "assistant", "parts": parts}
        answer = {"id": "chat-1", "messages": [message]}
        replying = asyncio.create_task(call(gateway, "chat", answer, headers=NATIVE))
        await (await agent.run()).say(Called("c1", "done"), Over())

        assert (await replying).status_code == 200


@asynccontextmanager
async def limited(agent: AskingAgent) -> AsyncIterator[Gateway]:
    async with gateway_of(agent, turns_per_minute=1) as gateway:
        await missed_turn(gateway, agent)
        yield gateway


async def test_the_last_turn_is_there_after_a_prompt_over_the_rate(agent: AskingAgent) -> None:
    async with limited(agent) as gateway:
        for _ in range(2):
            await is_refused(gateway, 429)
        async with resuming(gateway) as reader:
            assert said(await reader.end()) == "important"


async def test_a_prompt_that_begins_takes_the_place_of_the_last_turn(agent: AskingAgent) -> None:
    async with gateway_of(agent) as gateway:
        await missed_turn(gateway, agent)
        async with prompting(gateway) as prompt:
            run = await agent.run()
            async with resuming(gateway) as reader:
                await run.say(Begun("t2"), Text("new"), Over())
                assert said(await reader.end()) == "new"
            await prompt.end()
        await gateway.has_ended("completed", times=2)
        assert gateway.counted("turnwire_turn_log_turns") == 1


async def test_a_prompt_that_comes_while_the_gateway_drains_claims_nothing(
    agent: AskingAgent,
) -> None:
    async with gateway_of(agent) as gateway:
        await missed_turn(gateway, agent)
        gateway.streams.draining = True
        await is_refused(gateway, 503)
        gateway.streams.draining = False
        async with resuming(gateway) as reader:
            assert said(await reader.end()) == "important"
        prompt = asyncio.create_task(post(gateway))
        await (await agent.run()).say(Begun("t2"), Over())

        assert (await prompt).status_code == 200


async def test_an_answer_after_the_turn_is_late_only_if_the_turn_asked(agent: AskingAgent) -> None:
    async with gateway_of(agent) as gateway:
        async with prompting(gateway) as prompt:
            run = await agent.run()
            await run.say(Begun("t1"), Asks("q1"), Over())
            await prompt.end()
        got = [
            await call(gateway, "answer", {"questionId": question_id, "answer": 1})
            for question_id in ("q1", "q9")
        ]

    assert [each.status_code for each in got] == [409, 404]


async def test_the_log_says_nothing_of_a_turn_that_never_was(
    agent: AskingAgent, capsys: pytest.CaptureFixture[str]
) -> None:
    async with gateway_of(agent) as gateway:
        await agent.close()
        await call(gateway, "chat", ask())
        await gateway.has_ended("unreachable")

    (line,) = (each for each in capsys.readouterr().out.splitlines() if "stream ended" in each)
    assert "turn_log=" not in line
