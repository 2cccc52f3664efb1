"""How many turns a user may begin in a minute, and what that costs when Redis is gone."""

import asyncio

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import new_client, post
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire.errors import TooManyTurns
from turnwire.web.rate_limit import Rates


async def test_one_more_than_the_limit_is_refused_until_the_window_moves() -> None:
    rates = Rates(3)
    for _ in range(3):
        await rates.take("ann")

    with pytest.raises(TooManyTurns) as refused:
        await rates.take("ann")

    assert 1 <= int(refused.value.headers["retry-after"]) <= 120
    await rates.take("bob")


async def test_no_limit_counts_nothing() -> None:
    rates = Rates(0)
    for _ in range(1_000):
        await rates.take("ann")


@pytest.mark.sockets
@pytest.mark.attack(
    "one user begins very many turns", "429 with `Retry-After`, where a rate is set"
)
async def test_through_the_gateway_it_is_a_429_with_retry_after() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), turns_per_minute=2) as gateway,
    ):
        statuses = [(await post(gateway)).status_code for _ in range(2)]
        refused = await post(gateway)
        other = await post(gateway, user="u2")

        assert statuses == [200, 200]
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_turns")
        assert int(refused.headers["retry-after"]) >= 1
        assert other.status_code == 200
        assert agent.connections == 3, "a refused turn opens no connection"


@pytest.mark.sockets
async def test_a_redis_that_hangs_is_asked_once_in_a_while() -> None:
    """It takes the connection and says nothing: nobody's turn may wait for that each time."""
    now = 100.0
    taken: list[asyncio.StreamWriter] = []

    async def hang(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(writer)

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        rates = Rates(1, f"redis://127.0.0.1:{port}", clock=lambda: now)
        async with asyncio.timeout(4):  # a Redis client waits for five seconds by itself
            await rates.take("ann")
            for _ in range(100):
                await rates.take("ann")
        assert len(taken) == 1

        now += 5
        await rates.take("ann")
        assert len(taken) == 2
        for writer in taken:
            writer.close()
            await writer.wait_closed()


@pytest.mark.sockets
async def test_what_is_no_turn_is_not_counted() -> None:
    continued = {"role": "assistant", "parts": [{"type": "text", "text": "x"}]}
    async with ScriptedAgent() as agent, Gateway(agent.url(), turns_per_minute=1) as gateway:
        async with new_client() as client:
            for _ in range(3):
                url = f"{gateway.url}/api/sessions/s1/chat"
                body = {"message": continued}
                assert (await client.post(url, json=body, headers=bearer())).status_code == 400

        assert (await post(gateway)).status_code == 200
