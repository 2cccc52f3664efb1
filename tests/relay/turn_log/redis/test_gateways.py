"""Two gateways with one Redis for their turn log: each reads, stops and answers the other's turns.

And the Redis fails in mid-turn: the client of the turn sees nothing of it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from gateway.asking_agent import AgentRun, AskingAgent, call, gateway_of, prompting, resuming
from gateway.clients import is_whole, outline, post, said
from gateway.redis_server import RedisServer
from gateway.running import Gateway
from gateway.slow_line import SlowLine
from gateway.waiting import PATIENCE_S, until
from relay.turn_log.redis.rig import all_listen
from support.asking_dialect import Asking, Asks, Begun, Over, Text, Waits
from support.framed_transport import FramedTransport
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS

pytestmark = pytest.mark.sockets

STREAM = "chat/chat-1/stream"
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


async def test_the_other_gateway_streams_the_turn_from_its_start_to_its_end(
    agent: AskingAgent, gateways: list[Gateway]
) -> None:
    one, other = gateways
    async with prompting(one) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(other) as reader, resuming(one) as neighbour:
            await reader.sees("Hello")
            await neighbour.sees("Hello")
            await run.say(*END)
            bodies = [await each.end() for each in (prompt, reader, neighbour)]
        assert "x-turnwire-resume" not in prompt.response.headers

    assert bodies == [bodies[0]] * 3
    assert said(bodies[0]) == "Hello world"
    assert is_whole(bodies[0])
    assert (await call(other, STREAM, method="GET")).status_code == 204


async def test_a_turn_that_nobody_reads_goes_on_and_is_told_by_the_other(
    agent: AskingAgent, gateways: list[Gateway]
) -> None:
    one, other = gateways
    async with prompting(one, policy="continue") as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
    await run.say(*END)
    await one.has_ended("client_gone")

    async with resuming(other) as reader:
        body = await reader.end()

    assert said(body) == "Hello world"
    assert is_whole(body)


async def test_a_reader_of_the_other_gateway_is_somebody_who_came_back(
    agent: AskingAgent, gateways: list[Gateway]
) -> None:
    one, other = gateways
    async with prompting(one, policy="grace") as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(other) as reader:
            await reader.sees("Hello")
            await prompt.hang_up()
            await asyncio.sleep(0.3)
            assert not run.has_left
            await run.say(*END)
            body = await reader.end()

    assert said(body) == "Hello world"


async def test_a_stop_at_the_other_gateway_ends_the_turn_for_everybody(
    agent: AskingAgent, gateways: list[Gateway]
) -> None:
    one, other = gateways
    async with prompting(one) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        named = await call(other, "stop", {"turnId": "t9"})
        stopped = await call(other, "stop", {"turnId": "t1"})
        body = await prompt.end()
        await until(lambda: run.has_left)

    assert (named.status_code, named.json()["code"]) == (409, "another_turn")
    assert (stopped.status_code, stopped.json()["stopped"]) == (200, True)
    assert "abort" in outline(body)
    assert (await call(other, "stop", {})).status_code == 404


async def test_an_answer_at_the_other_gateway_reaches_the_turn(
    agent: AskingAgent, gateways: list[Gateway]
) -> None:
    one, other = gateways
    async with prompting(one) as prompt:
        first = await agent.run()
        await first.say(*BEGUN, Asks("q1"), Waits())
        first.leave()
        await prompt.sees("data-question")
        answered = await call(other, "answer", {"questionId": "q1", "answer": "tea"})
        again = await call(other, "answer", {"questionId": "q1", "answer": "tea"})
        second = await agent.run()
        await second.say(*END)
        body = await prompt.end()

    assert (answered.status_code, again.status_code) == (202, 409)
    assert second.run.answers.keys() == {"q1"}
    assert said(body) == "Hello world"


async def _done(tasks: Sequence["asyncio.Task[Any]"], count: int) -> None:
    await until(lambda: sum(each.done() for each in tasks) == count)


async def test_of_prompts_at_one_moment_exactly_one_begins(
    agent: AskingAgent, gateways: list[Gateway]
) -> None:
    for _ in range(5):
        posts = [asyncio.create_task(post(each)) for each in gateways * 3]
        run = await agent.run()
        await _done(posts, 5)
        await run.say(*BEGUN, *END)
        responses = [await task for task in posts]

        assert sorted(each.status_code for each in responses) == [200, *[409] * 5]
        refused = {each.json()["code"] for each in responses if each.status_code == 409}
        assert refused == {"another_turn"}
        assert agent.runs.empty()


# The Redis fails.

Harm = Callable[[RedisServer, SlowLine], Awaitable[object]]


async def _killed(redis: RedisServer, _: SlowLine) -> None:
    await redis.kill()


async def _stopped(redis: RedisServer, _: SlowLine) -> None:
    redis.pause()


async def _filled(redis: RedisServer, _: SlowLine) -> None:
    await redis.fill()


async def _slow(_: RedisServer, line: SlowLine) -> None:
    line.delay_s = 60


def _name(harm: Harm) -> str:
    return harm.__name__.strip("_")


async def _is_complete(run: AgentRun, prompt: Any) -> bool:
    """Tell the rest of a turn, and see that the client of the prompt gets all of it."""
    for number in range(20):
        await run.say(Text(f" {number}"))
        await asyncio.sleep(0.01)
    await run.say(*END)
    body = await prompt.end()
    return said(body) == f"Hello {' '.join(map(str, range(20)))} world" and is_whole(body)


@pytest.mark.fault(
    "the Redis of the turn log is killed in mid-turn",
    "the client gets all of it; new prompts still work, but their turns are not kept",
)
@pytest.mark.fault(
    "the Redis of the turn log is stopped (SIGSTOP) in mid-turn",
    "the client gets all of it; new prompts still work, but their turns are not kept",
)
@pytest.mark.fault(
    "the Redis of the turn log has no memory left, in mid-turn",
    "the client gets all of it; new prompts still work, but their turns are not kept",
)
@pytest.mark.fault(
    "the line to the Redis of the turn log becomes slow in mid-turn",
    "the client gets all of it; new prompts still work, but their turns are not kept",
)
@pytest.mark.parametrize("harm", [_killed, _stopped, _filled, _slow], ids=_name)
async def test_a_client_sees_nothing_of_a_redis_that_fails(
    harm: Harm, agent: AskingAgent, own_redis: RedisServer
) -> None:
    async with SlowLine(own_redis.port) as line:
        url = f"redis://127.0.0.1:{line.port}"
        async with gateway_of(agent, turn_log=url) as gateway:
            async with prompting(gateway) as prompt:
                run = await agent.run()
                await run.say(*BEGUN)
                await prompt.sees("Hello")
                await harm(own_redis, line)
                assert await _is_complete(run, prompt)
            for number in range(3):
                async with prompting(gateway) as prompt:
                    run = await agent.run()
                    assert prompt.response.status_code == 200
                    if number:  # the first one may find it out
                        assert prompt.response.headers["x-turnwire-resume"] == "no"
                    await run.say(*BEGUN)
                    await prompt.sees("Hello")
                    assert (await post(gateway)).status_code == 409, "this process guards its own"
                    assert (await call(gateway, "stop", {})).status_code == 200
                    await prompt.end()
            assert gateway.counted("turnwire_turn_log_failures_total") > 0
            own_redis.unpause()


@pytest.mark.fault(
    "the Redis of the turn log is restarted in mid-turn, and empty",
    "the client gets all of it; nobody reads a turn with a hole, and the chat is claimed again",
)
@pytest.mark.usefixtures("patient")
async def test_a_turn_with_a_hole_is_not_shown(agent: AskingAgent, own_redis: RedisServer) -> None:
    async with (
        gateway_of(agent, turn_log=own_redis.url) as one,
        gateway_of(agent, turn_log=own_redis.url) as other,
        prompting(one) as prompt,
    ):
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        await own_redis.kill()
        await run.say(Text(" there"))
        await prompt.sees("there")
        await own_redis.start()

        async def is_claimed() -> bool:
            return "lease" in await own_redis.ask("KEYS", "*")

        async with asyncio.timeout(PATIENCE_S):
            while not await is_claimed():  # noqa: ASYNC110 (what is asked has no event)
                await asyncio.sleep(0.05)
        assert (await post(other)).status_code == 409, "the turn has its chat again"
        assert (await call(other, STREAM, method="GET")).status_code == 204
        await run.say(*END)
        assert said(await prompt.end()) == "Hello there world"


@pytest.mark.fault(
    "the Redis of the turn log is stopped in mid-turn, and continues",
    "the client and its readers get all of it",
)
async def test_a_pause_of_redis_costs_no_record(
    agent: AskingAgent, redis: RedisServer, gateways: list[Gateway]
) -> None:
    one, other = gateways
    async with prompting(one, policy="continue") as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(other) as reader:
            await reader.sees("Hello")
            redis.pause()
            for number in range(20):
                await run.say(Text(f" {number}"))
            await prompt.sees(" 19")
            await asyncio.sleep(0.4)
            redis.unpause()
            await run.say(*END)
            bodies = [await prompt.end(), await reader.end()]

    assert bodies[0] == bodies[1]
    assert is_whole(bodies[0])


async def test_no_password_is_logged(
    agent: AskingAgent, redis: RedisServer, caplog: pytest.LogCaptureFixture, capsys: Any
) -> None:
    url = f"redis://ann:hunter2@127.0.0.1:{redis.port}"
    async with gateway_of(agent, turn_log=url) as gateway, prompting(gateway) as prompt:
        await (await agent.run()).say(*BEGUN, *END)
        assert said(await prompt.end()) == "Hello world"
        assert prompt.response.headers["x-turnwire-resume"] == "no"

    printed = capsys.readouterr()
    told = f"{caplog.text}{printed.out}{printed.err}"
    assert "turns are not kept" in told
    assert "hunter2" not in told
