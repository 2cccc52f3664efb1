"""The `session-agent` dialect on real sockets, with the lab's agent.

A turn in each of its three revisions, the rest in one: what differs is proved in tests/dialects.
"""

import pytest

from gateway.clients import chatting, chunks, errors, is_whole, outline, post, said
from gateway.product import product
from gateway.waiting import until
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_turn_with_a_tool(revision: Revision) -> None:
    async with product(Habits(revision=revision)) as (_, gateway):
        response = await post(gateway, text="what is 12*7?")

    assert is_whole(response.text)
    assert "84" in said(response.text)
    (output,) = [c for c in chunks(response.text) if c["type"] == "tool-output-available"]
    assert "84" in str(output["output"])


async def test_a_turn_that_fails() -> None:
    async with product(Habits()) as (_, gateway):
        response = await post(gateway, text="make the turn fail")

    assert is_whole(response.text)
    assert errors(response.text)


async def test_a_client_that_hangs_up_stops_its_own_turn() -> None:
    async with product(Habits()) as (agent, gateway):
        async with chatting(gateway, text="hang") as chat:
            await chat.sees("text-delta")

        await until(lambda: any(frame["type"] == "abort" for frame in agent.received))
        await until(lambda: len(agent.tally.stopped) == 1)
        assert not agent.tally.foreign


async def test_a_dead_session_refuses_the_prompt() -> None:
    async with product(Habits(status="terminated")) as (_, gateway):
        response = await post(gateway)

    assert response.status_code == 409
    assert response.json()["code"] == "conflict"


async def test_a_prompt_waits_behind_another_users_turn_and_sees_nothing_of_it() -> None:
    async with (
        product(Habits()) as (agent, gateway),
        chatting(gateway, text="hold", user="ann") as first,
    ):
        await first.sees("start-step")
        async with chatting(gateway, text="what is 2+2?", user="bob") as second:
            await second.sees("queued")
            agent.session("s1").release()
            body = await second.end()
        await first.end()

    assert is_whole(body)
    assert is_whole(first.body)
    assert "4" in said(body)
    assert outline(body).count("start") == 1
