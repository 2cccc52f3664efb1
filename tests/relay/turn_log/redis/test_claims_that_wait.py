"""Two gateways with one Redis: a prompt waits for the end of a turn that its client left."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.acp_agent import begin, of_method, response, text
from gateway.agent import Line, ScriptedAgent
from gateway.asking_agent import AskingAgent, call, gateway_of, prompt_of, prompting
from gateway.clients import said
from gateway.redis_server import RedisServer
from gateway.running import Gateway
from gateway.waiting import until
from relay.turn_log.listening import Control, write
from relay.turn_log.redis.rig import CHAT, OTHER, Rig, all_listen, claim, is_flushed
from support.asking_dialect import Asking, Begun, Over, Text
from support.framed_transport import FramedTransport
from turnwire.core.events import Reason, TurnFinished
from turnwire.core.rejection import Rejection
from turnwire.core.turn_log.entries import Head, pack
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.relay.turn_log.patient_claims import ENDING_S, UNNOTICED_S, PatientClaims
from turnwire.relay.turn_log.port import LastTurn
from turnwire.relay.turn_log.redis import asking, patience, store

pytestmark = pytest.mark.sockets

STREAM = "chat/chat-1/stream"
BEGUN = (Begun("t1"), Text("Hello"))
END = (Text(" world"), Over())
RUNNING, NEXT = Head("p1", "u1", "m1"), Head("p2", "u1", "m2")


@pytest.fixture(autouse=True)
def in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Asking.name, Asking())
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)


@pytest.fixture
async def agent() -> AsyncIterator[AskingAgent]:
    async with AskingAgent() as agent:
        yield agent


@pytest.fixture
async def gateways(
    patient: None,  # noqa: ARG001 (it is there for what it does)
    agent: AskingAgent,
    redis: RedisServer,
) -> AsyncIterator[list[Gateway]]:
    async with (
        gateway_of(agent, turn_log=redis.url) as one,
        gateway_of(agent, turn_log=redis.url) as other,
    ):
        for gateway in (one, other):
            assert (await call(gateway, STREAM, method="GET")).status_code == 204
        await all_listen(redis, 2)
        yield [one, other]


@pytest.mark.parametrize("apart", [False, True], ids=["here", "elsewhere"])
async def test_a_prompt_may_follow_the_hang_up_at_once(
    agent: AskingAgent, gateways: list[Gateway], *, apart: bool
) -> None:
    for number in range(50):
        gateway = gateways[number % 2 if apart else 0]
        async with prompting(gateway, body=prompt_of(f"m{number}")) as prompt:
            assert prompt.response.status_code == 200
            assert "x-turnwire-resume" not in prompt.response.headers
            run = await agent.run()
            assert run.run.prompt == f"m{number}"
            await run.say(*BEGUN)
            await prompt.sees("Hello")

    assert agent.asked == 50


async def test_a_turn_that_goes_on_elsewhere_is_a_conflict(
    agent: AskingAgent, gateways: list[Gateway]
) -> None:
    one, other = gateways
    async with prompting(one, body=prompt_of("m1")) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        began = asyncio.get_running_loop().time()
        answers = [await call(other, "chat", prompt_of(name)) for name in ("m2", "m1")]
        took_s = asyncio.get_running_loop().time() - began
        await run.say(*END)
        assert said(await prompt.end()) == "Hello world"

    assert [each.json()["code"] for each in answers] == ["another_turn"] * 2
    assert took_s < ENDING_S / 2
    assert agent.asked == 1


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("stopped", [False, True], ids=["hang-up", "stop"])
async def test_a_prompt_elsewhere_waits_until_the_agent_has_cancelled(
    redis: RedisServer, *, stopped: bool
) -> None:
    async with (
        ScriptedAgent(begin) as agent,
        Gateway(agent.url(), dialect="acp", agent_cwd="/srv", turn_log=redis.url) as one,
        Gateway(agent.url(), dialect="acp", agent_cwd="/srv", turn_log=redis.url) as other,
    ):
        assert (await call(other, STREAM, method="GET")).status_code == 204
        async with prompting(one, body=prompt_of("m1")) as prompt:
            await prompt.sees("Hello")
            await all_listen(redis, 2)
            line: Line = await agent.line()
            stopping = asyncio.create_task(call(other, "stop", {})) if stopped else None
            if stopping is None:
                await prompt.hang_up()
            following = asyncio.create_task(call(other, "chat", prompt_of("m2")))
            again = asyncio.create_task(call(other, "chat", prompt_of("m3")))
            await until(lambda: of_method(line, "session/cancel"))
            await asyncio.sleep(3 * UNNOTICED_S)
            assert not following.done()
            assert (await again).status_code == 409
            assert len(agent.lines) == 1
            await line.say(response(10, stopReason="cancelled"))
            next_line = await agent.line(1)
            await until(lambda: of_method(next_line, "session/prompt"))
            await next_line.say(text(" again"), response(10, stopReason="end_turn"))

            assert "again" in (await following).text
            assert stopping is None or (await stopping).status_code == 200


async def test_the_last_turn_of_a_chat(rig: Rig) -> None:
    one, other = rig.logs
    control = Control()
    writer = await one.claim(CHAT, pack(RUNNING), control)
    assert writer is not None
    write(writer, "a")
    for log in (one, other):
        assert await log.last(CHAT) == LastTurn(RUNNING, is_running=True)
        assert await log.last(OTHER) is None
        assert not await log.is_ending(CHAT)
        assert await log.is_ending(OTHER)
    control.is_ending = True
    for log in (one, other):
        assert await log.is_ending(CHAT)
    writer.end(is_received=True)
    await until(lambda: not one.turns)
    for log in (one, other):
        assert await log.last(CHAT) == LastTurn(RUNNING, is_running=False)
        assert await log.is_ending(CHAT)


async def test_a_redis_that_is_silent_says_nothing_of_a_turn(
    rig: Rig, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await claim(rig.logs[0])
    monkeypatch.setattr(patience, "ANSWER_S", 0.05)
    monkeypatch.setattr(asking, "_ENDING_S", 0.05)
    redis.pause()
    assert await rig.logs[1].last(CHAT) is Rejection.SILENT
    assert not await rig.logs[1].is_ending(CHAT)


async def test_a_turn_of_another_release_is_not_waited_for(rig: Rig, redis: RedisServer) -> None:
    writer = await claim(rig.logs[0])
    write(writer, "a")
    await is_flushed(rig.logs[0], writer)
    await redis.ask("HSET", "turnwire:{chat}:turn", "head", "x")

    assert await rig.logs[1].last(CHAT) is Rejection.SILENT
    claims = PatientClaims()
    assert await claims.claim(rig.logs[1], CHAT, NEXT, Control(), renews=False) is None


@pytest.mark.parametrize("message_id", ["m1", "m2", None])
async def test_a_prompt_that_comes_again_elsewhere_begins_no_second_turn(
    message_id: str | None, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is another prompt finds the chat free, if it is a moment later."""
    monkeypatch.setattr(asking, "_AGAIN_S", 0.5)
    one, other = rig.logs
    writer = await one.claim(CHAT, pack(RUNNING), Control())
    assert writer is not None
    write(writer, "a", TurnFinished(reason=Reason.END_TURN))
    head = pack(Head("p2", "u1", message_id))
    claiming = asyncio.create_task(other.claim(CHAT, head, Control()))
    await asyncio.sleep(0.1)
    writer.end(is_received=True)

    assert (await claiming is None) is (message_id == "m1")


async def test_of_the_replies_to_other_processes_the_last_are_kept(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_REPLIES", 2)
    writer = await claim(rig.logs[0])
    for _ in range(4):
        assert not await rig.logs[1].is_ending(CHAT)

    assert len(writer.replies) == 2
