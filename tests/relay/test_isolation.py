"""Many clients on one session whose agent tells everything to everybody."""

import asyncio

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, errors, is_whole, new_client, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until

pytestmark = pytest.mark.sockets

CLIENTS = 100


class Broadcaster:
    """One session: prompts queue, one turn runs at a time, every line hears every frame."""

    def __init__(self, *, names_prompts: bool) -> None:
        self._names_prompts = names_prompts
        self._running = asyncio.Lock()
        self._open: list[Line] = []
        self._turns = 0

    async def __call__(self, line: Line) -> None:
        self._open.append(line)
        try:
            prompt = await line.prompt()
            async with self._running:
                self._turns += 1
                turn = f"turn-{self._turns}"
                named = {"promptId": prompt["promptId"]} if self._names_prompts else {}
                channel = {name: prompt[name] for name in ("channelType", "channelId")}
                await self._tell(frames.create(turn=turn, **channel, **named))
                for word in ("You said ", prompt["content"], "."):
                    await self._tell(frames.told_by_chunk(word, turn), frames.delta(word, turn))
                    await asyncio.sleep(0)  # so that another could get in between
                await self._tell(frames.finalize(turn))
        finally:
            self._open.remove(line)

    async def _tell(self, *told: frames.Json) -> None:
        data = b"".join(frames.raw(frames.text(frame).encode()) for frame in told)
        await asyncio.gather(*(line.raw(data) for line in self._open if line.is_open))


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
