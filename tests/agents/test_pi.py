"""pi behind a bridge, its dialect in a gateway, and clients: each turn is a process."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest

from agents.bridged_pi import BridgedPi, bridged_pi
from agents.served import prompts
from gateway.clients import Json, ask, chunks, errors, is_whole, said
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire_lab.gateway import Gateway

# Each turn waits for the start of a process.
pytestmark = [pytest.mark.sockets, pytest.mark.timeout(240)]

PATIENCE_S: Final = 110
LINES: Final = "line 1\nline 2\nline 3\n"
HELLO: Final = "Hello wörld 👋, how are you?"
STORY: Final = (
    "Once upon a time there was a small agent that told a story, "
    "and the story took a while to tell."
)


@pytest.fixture(scope="module")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BridgedPi]:
    with bridged_pi(tmp_path_factory.mktemp("pi")) as pi:
        yield pi


class User:
    """A client of a gateway."""

    def __init__(self, gateway: Gateway, client: httpx.AsyncClient) -> None:
        self._url = f"{gateway.url}/api/sessions"
        self._client = client

    async def turn(self, text: str, session: str, **more: Any) -> str:
        """One turn, read to its end."""
        url = f"{self._url}/{session}/chat"
        response = await self._client.post(url, json=ask(text, **more), headers=bearer())
        assert response.status_code == httpx.codes.OK, response.text
        return response.text

    async def stopped(self, text: str, session: str, *, at: str) -> str:
        """One turn that is stopped when this is in it, read to its end."""
        url, shown = f"{self._url}/{session}", ""
        stopping: asyncio.Task[httpx.Response] | None = None
        async with self._client.stream(
            "POST", f"{url}/chat", json=ask(text), headers=bearer()
        ) as response:
            async for piece in response.aiter_text():
                shown += piece
                if stopping is None and at in shown:
                    stop = self._client.post(f"{url}/stop", json={}, headers=bearer())
                    stopping = asyncio.create_task(stop)
        assert stopping is not None, shown
        assert (await stopping).status_code == httpx.codes.OK
        return shown


@asynccontextmanager
async def before(pi: BridgedPi, **settings: str) -> AsyncIterator[User]:
    async with (
        pi.gateway(**settings) as gateway,
        httpx.AsyncClient(trust_env=False, timeout=PATIENCE_S) as client,
    ):
        yield User(gateway, client)


def of(body: str, *kinds: str) -> list[Json]:
    return [chunk for chunk in chunks(body) if chunk["type"] in kinds]


async def test_a_text_and_a_thought(pi: BridgedPi) -> None:
    async with before(pi) as user:
        hello = await user.turn("say hello", "text")
        thought = await user.turn("think", "thought")

    assert (said(hello), said(thought)) == (HELLO, "Then I answer.")
    assert is_whole(hello)
    assert is_whole(thought)
    reasoning = "".join(each["delta"] for each in of(thought, "reasoning-delta"))
    assert reasoning == "First I consider the question."
    (end,) = of(hello, "finish")
    assert end["messageMetadata"]["usage"]["outputTokens"] > 0
