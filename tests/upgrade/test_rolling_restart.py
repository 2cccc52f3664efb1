"""Gateways of an older version are replaced one after the other, and brought back, under load."""

import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Self

import httpx
import pytest

from chaos.fronts import Nginx
from gateway.clients import Chat, ask, chunks, errors, is_whole, new_client, said
from gateway.tokens import KEY, bearer
from gateway.waiting import until
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.process import free_port
from upgrade.load import RESTARTING, Load, held_against
from upgrade.older import Version

pytestmark = [pytest.mark.sockets, pytest.mark.long, pytest.mark.timeout(300)]

USERS: Final = 12
PATIENCE_S: Final = 90.0
HABITS: Final = Habits(pace_s=0.005, slow_s=0.05)
"""A turn of a user who is slow takes more than two seconds: longer than a gateway waits for it."""
DRAIN_S: Final = 1
QUESTION: Final = "ask me: tea or coffee?"


def settings(agent_url: str, port: int = 0) -> dict[str, object]:
    """Both versions know all of these."""
    return {
        "enabled": "true",
        "agent_url": agent_url,
        "jwt_key": KEY,
        "port": port,
        "metrics_port": 0,
        "drain_s": DRAIN_S,
        "lag_s": 0,  # a busy machine is no reason to be refused
    }


class Fleet:
    """Two gateways behind nginx, by the file of `deploy/`."""

    def __init__(self, agent: ReferenceAgent, first: Path | None) -> None:
        self.ports = (free_port(), free_port())
        self.now: list[Version] = []
        self._agent = agent
        self._first = first
        self._stack = AsyncExitStack()

    async def start(self, port: int, folder: Path | None) -> None:
        gateway = Version(settings(self._agent.url, port), folder)
        self.now.append(await self._stack.enter_async_context(gateway))

    def has_worked(self) -> bool:
        """Whether each gateway that runs now has brought a stream to its end."""
        return all(each.logged("stream ended") for each in self.now)

    async def replace(self, folder: Path | None) -> None:
        """Stop the oldest as a deployment does, and start its successor."""
        gone = self.now.pop(0)
        gone.signal(signal.SIGTERM)
        assert await gone.ended() == -signal.SIGTERM
        await self.start(gone.port, folder)

    async def __aenter__(self) -> Self:
        for port in self.ports:
            await self.start(port, self._first)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


@pytest.mark.fault(
    "gateways of an older version are replaced one after the other, under load, and brought back",
    "no turn is lost or doubled; what outlives the drain time is resumed at the other version",
)
async def test_an_upgrade_and_its_rollback_cost_no_turn(older: Path, tmp_path: Path) -> None:
    async with (
        ReferenceAgent(HABITS) as agent,
        Fleet(agent, older) as fleet,
        Nginx(tmp_path, fleet.ports) as front,
        Load(front.url, USERS) as load,
    ):
        for folder in (None, None, older, older):
            await until(lambda: load.unexpected or fleet.has_worked(), PATIENCE_S)
            await fleet.replace(folder)
        await until(lambda: load.unexpected or fleet.has_worked(), PATIENCE_S)
        await load.finish()
        held_against(load, agent)

    assert load.resumed["200"] > 0


async def _asked_until_restarted(agent: ReferenceAgent, folder: Path | None) -> bytes:
    """Ask for a question of the agent, and stop the gateway. Returns what the client got."""
    async with Version(settings(agent.url), folder) as gateway, new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/chat"
        async with client.stream("POST", url, json=ask(QUESTION), headers=bearer()) as response:
            chat = Chat(response)
            await chat.sees("data-question")
            gateway.signal(signal.SIGTERM)
            body = await chat.end()
        assert await gateway.ended() == -signal.SIGTERM
    assert is_whole(body)
    assert errors(body) == [RESTARTING]
    return body


def _question(body: bytes) -> str:
    asked = [chunk["id"] for chunk in chunks(body) if chunk["type"] == "data-question"]
    return str(asked[0])


@pytest.mark.parametrize("direction", ["upgrade", "rollback"])
async def test_a_turn_begun_at_one_version_is_resumed_and_answered_at_the_other(
    older: Path, direction: str
) -> None:
    first, second = (older, None) if direction == "upgrade" else (None, older)
    async with ReferenceAgent() as agent:
        begun = await _asked_until_restarted(agent, first)
        async with Version(settings(agent.url), second) as gateway, new_client() as client:
            url = f"{gateway.url}/api/sessions/s1"
            async with client.stream(
                "GET", f"{url}/chat/chat-1/stream", headers=bearer()
            ) as response:
                resumed = Chat(response)
                await resumed.sees("data-question")
                answer = {"questionId": _question(begun), "answer": "tea"}
                answered = await client.post(f"{url}/answer", json=answer, headers=bearer())
                body = await resumed.end()
            history = (await client.get(f"{url}/messages", headers=bearer())).json()
        (run,) = agent.journal.of("s1")
        (_, told) = agent.session("s1").history

    assert answered.status_code == httpx.codes.ACCEPTED
    assert said(body) == told.text
    assert said(body).startswith(said(begun))
    assert len(said(body)) > len(said(begun))
    ids = [chunks(begun)[0]["messageId"], chunks(body)[0]["messageId"], history[-1]["id"]]
    assert ids == [told.id] * 3
    assert (run.reason, run.aborted) == ("end_turn", False)
