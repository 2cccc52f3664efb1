"""A chat in a browser that reloads or reconnects, at random times and at random replicas."""

import asyncio
import time
from collections.abc import Sequence
from random import Random
from typing import Any

import httpx

from chaos.telling_agent import TellingAgent
from gateway.clients import Json, ask, chunks, errors, is_whole, said
from gateway.served import Served
from gateway.tokens import bearer

INTERRUPTED = ["Stream interrupted"]
MISSES = 10


class Tab:
    """A page that reads a turn from its start after each reload.

    Two tabs share a session: each has its own thread in it.
    """

    def __init__(self, number: int, living: Sequence[Served], dice: Random) -> None:
        self.name = f"tab-{number}"
        self.session = f"s{number // 2}"
        self.body = b""
        """What the page has of the turn."""
        self.statuses: list[int] = []
        self.is_kept = True
        self.asked_at = self.verdict_at = self.waited_s = 0.0
        """When the last request began, and when the page had the end; both as `time.monotonic`.
        How long the tab had to try until its prompt was taken."""
        self._params = {"threadId": f"thread-{number % 2}"}
        self._living = living
        self._dice = dice

    async def talk(self, client: httpx.AsyncClient, reloads: int) -> None:
        """Send a prompt, reload so many times in mid-turn, and read the last one to its end."""
        began = time.monotonic()
        while await self._prompt(client, reloads) != 200:  # its replica may die before it answers
            self.waited_s = time.monotonic() - began
            await asyncio.sleep(0.1)
        misses = 0
        while self.is_kept and (reloads or not is_whole(self.body)) and misses < MISSES:
            reloads = max(0, reloads - 1)
            if await self._resume(client, reloads) == 204:
                if is_whole(self.body):
                    return  # the page had all of it
                misses += 1  # Redis took too long, on a busy machine: the user tries again
                await asyncio.sleep(0.2)

    async def foreign(self, client: httpx.AsyncClient, gateway: Served) -> list[int]:
        """Ask for the turn as somebody else of this site, and for another thread."""
        url = f"{gateway.url}/api/sessions/{self.session}/chat/c/stream"
        stranger = bearer(f"user-{self.name}", sessions={"another": "collaborator"})
        others: list[tuple[dict[str, str], dict[str, str]]] = [
            (stranger, self._params),
            (bearer(f"user-{self.name}"), {"threadId": "thread-9"}),
        ]
        return [
            (await client.get(url, headers=headers, params=params)).status_code
            for headers, params in others
        ]

    async def _prompt(self, client: httpx.AsyncClient, reloads: int) -> int:
        return await self._read(client, "POST", "chat", reloads, json=ask(self.name))

    async def _resume(self, client: httpx.AsyncClient, reloads: int) -> int:
        return await self._read(client, "GET", "chat/c/stream", reloads)

    def _url(self, route: str) -> str:
        return f"{self._dice.choice(self._living).url}/api/sessions/{self.session}/{route}"

    async def _read(
        self, client: httpx.AsyncClient, method: str, route: str, reloads: int, **more: Any
    ) -> int:
        """Read a response, for a while if reloads are to come. Returns its status, or 0."""
        headers = bearer(f"user-{self.name}") | more.pop("headers", {})
        params = self._params | more.pop("params", {})
        status, former = 0, self.body
        self.asked_at = time.monotonic()
        try:
            async with client.stream(
                method, self._url(route), headers=headers, params=params, **more
            ) as response:
                status = response.status_code
                self.is_kept &= response.headers.get("x-turnwire-resume") != "no"
                if status == 200:
                    self._begin(response)
                    for_s = self._dice.uniform(0, 0.6) if reloads and self.is_kept else None
                    async with asyncio.timeout(for_s):
                        async for data in response.aiter_raw():
                            self.body += data
        except (TimeoutError, httpx.TransportError):
            pass
        self.statuses.append(status)
        if is_whole(self.body):
            self.verdict_at = time.monotonic()
        if not errors(self.body):  # what a killed process had not written yet nobody reads
            for old, new in zip(chunks(former), chunks(self.body), strict=False):
                assert old == new, f"{self.name} sees another turn, or another message"
        return status

    def _begin(self, _response: httpx.Response) -> None:
        self.body = b""


class CountingTab(Tab):
    """A `WorkflowChatTransport`: it reconnects with the number of the chunks that it has."""

    _run = ""

    async def _prompt(self, client: httpx.AsyncClient, reloads: int) -> int:
        headers = {"content-type": "text/plain"}
        return await self._read(
            client, "POST", "chat", reloads, headers=headers, json=ask(self.name)
        )

    async def _resume(self, client: httpx.AsyncClient, reloads: int) -> int:
        self.body = self.body[: self.body.rfind(b"\n\n") + 2] if b"\n\n" in self.body else b""
        count = {"startIndex": str(len(chunks(self.body)))}
        return await self._read(client, "GET", f"chat/{self._run}/stream", reloads, params=count)

    def _begin(self, response: httpx.Response) -> None:
        self._run = response.headers.get("x-workflow-run-id", self._run)


def how_it_ended(tab: Tab, agent: TellingAgent) -> str:
    """What the tab shows in the end must be a turn of its own prompt, or the begin of one."""
    text, turns = said(tab.body), agent.texts.get(tab.name, [])
    if not tab.is_kept and not is_whole(tab.body):
        return "not kept"
    assert is_whole(tab.body), (tab.name, tab.statuses, tab.body[-300:])
    kinds: list[Json] = chunks(tab.body)
    assert [kind["type"] for kind in kinds].count("start") == 1
    if errors(tab.body):
        assert errors(tab.body) == INTERRUPTED
        assert any(turn.startswith(text) for turn in turns), f"{tab.name} shows {text!r}"
        return "interrupted"
    assert text in turns, f"{tab.name} shows {text!r}"
    return "complete"
