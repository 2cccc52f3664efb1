"""How a stream ends when its client leaves."""

import asyncio

import pytest

from gateway import frames
from gateway.agent import Line, Script, ScriptedAgent, begin_only, stay_silent
from gateway.clients import RawClient, chatting, is_whole, post, request
from gateway.lateness import lateness
from gateway.running import Gateway
from gateway.waiting import until

pytestmark = pytest.mark.sockets

ABORT_S = 0.25


async def talk(line: Line) -> None:
    await line.begin()
    while not line.closed:
        await line.say(frames.delta("and "))
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("script", [talk, begin_only], ids=["it streams", "it is silent"])
@pytest.mark.fault("the client hangs up", "the turn is aborted within 250 ms")
async def test_a_client_that_hangs_up_aborts_the_turn_within_a_quarter_second(
    script: Script,
) -> None:
    async with ScriptedAgent(script) as agent, Gateway(agent.url()) as gateway:
        async with chatting(gateway) as chat, lateness() as late:
            await chat.sees("text-delta")
            left_at = await chat.hang_up()
            line = agent.lines[0]
            await until(lambda: line.aborts)

            assert line.heard_at[-1] - left_at - late.s < ABORT_S
            assert line.aborts[0]["turnId"] == frames.TURN
            assert line.aborts[0]["promptId"] == line.heard[0]["promptId"]
            await until(lambda: line.closed)
            assert line.closed_at is not None
            assert line.closed_at - left_at - late.s < 1
        await gateway.has_ended("client_gone")


@pytest.mark.fault("the client resets its connection", "as a hang-up")
async def test_a_reset_is_a_hang_up_too() -> None:
    async with ScriptedAgent(begin_only) as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            await client.chat()
            line = await agent.line()
            await until(lambda: line.of_type("prompt"))
            assert await client.read()
            client.reset()
            await until(lambda: line.aborts)
        await gateway.has_ended("client_gone")


async def test_a_long_prompt_does_not_hide_its_clients_end() -> None:
    """Reading stopped while the body came faster than it was taken."""
    async with ScriptedAgent(begin_only) as agent, Gateway(agent.url()) as gateway:
        async with chatting(gateway, text="x" * 99_000) as chat:
            await chat.sees("text-delta")
            await chat.hang_up()
            await until(lambda: agent.lines[0].aborts)
        await gateway.has_ended("client_gone")


async def test_before_the_turn_began_the_abort_names_the_prompt_alone() -> None:
    async with ScriptedAgent(stay_silent) as agent, Gateway(agent.url()) as gateway:
        async with chatting(gateway) as chat:
            line = await agent.line()
            await line.prompt()
            await chat.hang_up()
            await until(lambda: line.aborts)

        assert line.aborts[0]["promptId"] == line.heard[0]["promptId"]
        assert "turnId" not in line.aborts[0]


async def test_behind_anothers_turn_nothing_is_aborted_until_ours_begins() -> None:
    async def queue(line: Line) -> None:
        prompt = await line.prompt()
        await line.say(frames.create("another", "theirs"))
        await until(lambda: len(gateway.server.server_state.connections) == 0)
        await line.say(frames.delta("for them", "theirs"))
        await line.connection.ping()
        assert await (await line.connection.ping()) >= 0
        assert not line.aborts
        await line.say(frames.finalize("theirs"), frames.create(prompt["promptId"], "ours"))
        await until(lambda: line.aborts)

    async with ScriptedAgent(queue) as agent, Gateway(agent.url()) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees('"queued"')
            await chat.hang_up()
            line = agent.lines[0]
            await until(lambda: line.closed)

        assert [frame["turnId"] for frame in line.aborts] == ["ours"]
        await until(lambda: gateway.ended("client_gone") == 1)


async def test_while_it_waits_without_a_client_a_prompt_keeps_its_place_in_the_caps() -> None:
    async def queue(line: Line) -> None:
        await line.prompt()
        await line.say(frames.create("another", "theirs"))

    async with (
        ScriptedAgent(queue) as agent,
        Gateway(agent.url(), queue_wait_s=0.5, max_streams_per_user=1) as gateway,
    ):
        async with chatting(gateway) as chat:
            await chat.sees('"queued"')
        await until(lambda: len(gateway.server.server_state.connections) == 0)
        refused = await post(gateway)
        await gateway.has_ended("abandoned")

        assert refused.status_code == 429
        assert agent.lines[0].aborts == []
        assert agent.connections == 1


async def test_after_finalize_a_hang_up_aborts_nothing() -> None:
    """The next turn of the session may be somebody else's."""
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        async with chatting(gateway) as chat:
            body = await chat.end()
        line = agent.lines[0]
        await until(lambda: line.closed)

        assert is_whole(body)
        assert line.aborts == []


@pytest.mark.fault("the client leaves in mid-request", "the agent gets no prompt")
async def test_a_client_that_leaves_in_mid_body_opens_no_connection() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            await client.send(request(b'{"messages"', headers={"content-length": "5000"}))
            await until(lambda: gateway.server.server_state.tasks)
        await until(lambda: not gateway.server.server_state.tasks)

        assert agent.connections == 0


async def test_a_client_that_leaves_before_a_refusal_of_the_handshake_gets_nothing() -> None:
    async with ScriptedAgent(status=401) as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            await client.chat()
            client.hang_up()
        await until(lambda: not gateway.server.server_state.connections)

        assert agent.connections <= 1


async def test_the_next_request_of_the_same_connection_is_another_turn() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            for turn in range(3):
                await client.chat()
                got = b""
                while not got.endswith(b"0\r\n\r\n"):
                    got += await client.read()
                assert agent.connections == turn + 1

        await until(lambda: gateway.ended("completed") == 3)
