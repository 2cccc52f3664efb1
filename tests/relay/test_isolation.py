"""Many clients on one session whose agent tells everything to everybody."""

import asyncio

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import ask, errors, is_whole, new_client, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from relay.broadcaster import Broadcaster

pytestmark = pytest.mark.sockets

CLIENTS = 100


@pytest.mark.fault(
    "the streams of a hundred users of one session get each other's frames",
    "each user sees their own turn, and all of it",
)
@pytest.mark.parametrize("names_prompts", [True, False], ids=["by prompt", "by channel"])
async def test_each_of_a_hundred_clients_gets_its_own_turn_and_nothing_else(
    names_prompts: bool,  # noqa: FBT001 (a table's column)
) -> None:
    async with (
        ScriptedAgent(Broadcaster(names_prompts=names_prompts)) as agent,
        Gateway(agent.url(), max_streams_per_user=0) as gateway,
        new_client() as client,
    ):

        async def chat(number: int) -> str:
            params = {} if names_prompts else {"channelId": f"c{number}"}
            response = await client.post(
                f"{gateway.url}/api/sessions/s1/chat",
                json=ask(f"prompt {number}"),
                headers=bearer(),
                params=params,
            )
            return response.text

        bodies = await asyncio.gather(*(chat(number) for number in range(CLIENTS)))

        assert [said(body) for body in bodies] == [
            f"You said prompt {number}." for number in range(CLIENTS)
        ]
        assert all(map(is_whole, bodies))
        assert not any(map(errors, bodies))
        await until(lambda: gateway.ended("completed") == CLIENTS)
        assert len({frame["promptId"] for line in agent.lines for frame in line.heard}) == CLIENTS
        assert all(not line.aborts for line in agent.lines)
