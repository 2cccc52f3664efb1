"""Users who ask again as soon as they were answered, and come back to a turn as `useChat` does.

A user keeps to one session. A stream that ends with "Gateway restarting" is resumed; after a 204
the answer is in the history.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self

import httpx

from gateway.clients import ask, chunks, errors, is_whole, new_client, said
from gateway.tokens import bearer
from turnwire_lab.agents.v2.journal import Run
from turnwire_lab.agents.v2.server import ReferenceAgent

RESTARTING: Final = "Gateway restarting"


@dataclass(frozen=True)
class Answered:
    """What a user asked, and what the client shows in the end."""

    prompt: str
    message_id: str
    text: str


class User:
    """One who asks in a session of their own, through one address."""

    def __init__(self, url: str, number: int, *, slow: bool) -> None:
        self.session = f"s{number}"
        self.answered: list[Answered] = []
        self.unexpected: list[str] = []
        """All that a client got and that no restart explains."""
        self.resumed: Counter[str] = Counter()
        """How turns were come back to: by a stream, or in the history."""
        self._url = f"{url}/api/sessions/{self.session}"
        self._headers = bearer(f"u{number}")
        self._slow = slow

    async def turns(self, enough: asyncio.Event) -> None:
        async with new_client() as client:
            while not enough.is_set() and not self.unexpected:
                try:
                    await self._turn(client)
                except httpx.TransportError as exc:
                    self.unexpected.append(repr(exc))

    async def _turn(self, client: httpx.AsyncClient) -> None:
        number = len(self.answered)
        prompt = f"{'be slow' if self._slow else 'good morning'}, number {number} of {self.session}"
        body = ask(prompt)
        body["messages"][0]["id"] = f"m{number}"
        asked = await client.post(f"{self._url}/chat", json=body, headers=self._headers)
        message_id = ""
        response = asked
        while response.status_code == httpx.codes.OK:
            text = response.text
            begun = [chunk.get("messageId", "") for chunk in chunks(text)[:1]]
            if message_id and begun != [message_id]:
                self.unexpected.append(f"resumed as {begun}, not as {message_id}")
            message_id = begun[0] if begun else ""
            if is_whole(text) and not errors(text):
                self.answered.append(Answered(prompt, message_id, said(text)))
                return
            if not is_whole(text) or errors(text) != [RESTARTING]:
                self.unexpected.append(f"{response.url}: {text[-300:]}")
                return
            response = await client.get(f"{self._url}/chat/chat-1/stream", headers=self._headers)
            self.resumed[f"{response.status_code}"] += 1
        if response is asked or response.status_code != httpx.codes.NO_CONTENT:
            self.unexpected.append(f"{response.url}: {response.status_code} {response.text}")
            return
        await self._from_history(client, prompt, message_id)

    async def _from_history(self, client: httpx.AsyncClient, prompt: str, message_id: str) -> None:
        """The turn was over before the client came back."""
        history = await client.get(f"{self._url}/messages", headers=self._headers)
        last = history.json()[-1]
        if (last["role"], last["id"]) != ("assistant", message_id):
            self.unexpected.append(f"the history ends with {last['role']} {last['id']}")
            return
        text = "".join(part["text"] for part in last["parts"] if part["type"] == "text")
        self.answered.append(Answered(prompt, message_id, text))


class Load:
    """`async with Load(url, 12) as load:` is twelve users at work; its end lets them finish."""

    def __init__(self, url: str, users: int) -> None:
        self.users = [User(url, number, slow=number % 2 == 0) for number in range(users)]
        self._enough = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def resumed(self) -> Counter[str]:
        return sum((user.resumed for user in self.users), Counter[str]())

    @property
    def unexpected(self) -> list[str]:
        return [why for user in self.users for why in user.unexpected]

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(user.turns(self._enough)) for user in self.users]
        return self

    async def finish(self) -> None:
        """Let everybody finish what was asked."""
        self._enough.set()
        await asyncio.gather(*self._tasks)

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def held_against(load: Load, agent: ReferenceAgent) -> None:
    """Compare what clients show with what the agent did: nothing lost, nothing doubled."""
    assert load.unexpected == []
    for user in load.users:
        runs = list(agent.journal.of(user.session))
        entries = list(agent.session(user.session).history)
        told = [(e.id, e.text) for e in entries if e.role == "assistant"]
        assert [e.text for e in entries if e.role == "user"] == [a.prompt for a in user.answered]
        assert [(a.message_id, a.text) for a in user.answered] == told
        assert all(map(_ended_well, runs))
        assert len(runs) == len(user.answered)


def _ended_well(run: Run) -> bool:
    return run.began and run.reason == "end_turn" and not run.aborted
