"""Fifty clients of one session, half of which hang up at random moments."""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass

import httpx

from gateway.clients import ask, chunks
from gateway.running import Gateway
from gateway.tokens import bearer

CLIENTS = 50


USERS = 10


EQUAL = 20
"""So many of them come in pairs: the same user with the same text at the same moment."""


LATEST = 1500
"""Passes of the loop in which all of them come."""


LIMITS = {"idle_s": 8, "queue_wait_s": 15, "tool_silence_s": 8, "turn_s": 20}


WITHIN_S = 20.0


@dataclass(slots=True, eq=False)
class CrowdMember:
    """One client of the crowd."""

    number: int
    thread: str | None
    arrives: int
    """After how many passes of the loop it asks."""
    patience: int | None
    """Records it reads before it hangs up; None: all."""
    gives_up: int | None
    """After how many passes of the loop it hangs up, whatever was said; None: never."""
    body: bytes = b""
    left: bool = False

    @property
    def kind(self) -> int:
        return self.number // 2 if self.number < EQUAL else self.number

    @property
    def user(self) -> str:
        return f"u{self.kind % USERS}"

    @property
    def text(self) -> str:
        return f"what is {self.kind}*1000+7?"

    @property
    def answer(self) -> str:
        kind = self.kind
        return f"Let me work that out. {kind}*1000+7 is **{kind * 1000 + 7}**.\n"

    @property
    def turn_id(self) -> str | None:
        begun = (chunk for chunk in chunks(self.body) if chunk["type"] == "start")
        return next((chunk.get("messageId") for chunk in begun), None)

    async def talk(self, client: httpx.AsyncClient, gateway: Gateway) -> None:
        await _pass(self.arrives)
        talking = asyncio.create_task(self._read(client, gateway))
        if self.gives_up is not None:
            await _pass(self.gives_up)
            self.left = talking.cancel()
        with suppress(asyncio.CancelledError):
            await talking

    async def _read(self, client: httpx.AsyncClient, gateway: Gateway) -> None:
        async with client.stream(
            "POST",
            f"{gateway.url}/api/sessions/s1/chat",
            params={} if self.thread is None else {"threadId": self.thread},
            json=ask(self.text),
            headers=bearer(self.user),
        ) as response:
            assert response.status_code == 200
            records = response.aiter_raw()
            while self.patience is None or self.body.count(b"\n\n") < self.patience:
                try:
                    self.body += await anext(records)
                except StopAsyncIteration:
                    return
            self.left = True


async def _pass(passes: int) -> None:
    for _ in range(passes):
        await asyncio.sleep(0)


def crowd(seed: int, *, threads: bool = False) -> list[CrowdMember]:
    dice = random.Random(seed)  # noqa: S311 (chance that repeats)
    leaving = dice.sample(range(CLIENTS), CLIENTS // 2)
    arrives = [dice.randrange(LATEST) for _ in range(CLIENTS)]
    members = [
        CrowdMember(
            number,
            thread=None,
            arrives=arrives[number // 2 if number < EQUAL else number],
            patience=dice.randrange(24) if number in leaving[5:] else None,
            gives_up=dice.randrange(200) if number in leaving[:5] else None,
        )
        for number in range(CLIENTS)
    ]
    for member in members if threads else ():
        member.thread = f"t{member.kind}"
    return members
