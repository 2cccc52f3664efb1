"""What clients do to the rig: turns of every kind and every way that they can end."""

import asyncio
import contextlib
import itertools
import json
import random
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import httpx

from dashboards.rig import FLOOD, KEY_ID, NAMELESS, NOISY, SIGNER, Rig
from gateway.clients import Chat, ask, new_client, request
from gateway.served import Served
from gateway.tokens import bearer
from turnwire.core.turn.outcome import Outcome

_WORDS: Final = (
    "what is 12*7?",
    "search for keepalive",
    "think about rivers",
    "what time is it in Tokyo?",
    "tell me what you can do",
)
_SLOW: Final = "be slow"
_TRIES: Final = 4
_LONG_S: Final = 60
_OK: Final = b"HTTP/1.1 200"


class Crowd:
    """Clients, each of its own user and session."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._numbers = itertools.count()
        self._dice = random.Random(7)  # noqa: S311 (dice of a test)

    async def every_way(self) -> None:
        """Each outcome but a crash and a drain, and each refusal that has a panel."""
        main, strange, lost = self._rig.all
        native = {"x-turnwire-profile": "6"}
        await asyncio.gather(
            self._ends(main, Outcome.FAILED, lambda: self.turn(main, "make the turn fail")),
            self._ends(main, Outcome.INTERRUPTED, lambda: self.turn(main, "hang up")),
            self._ends(main, Outcome.SILENT, lambda: self.turn(main, "hang")),
            self._ends(main, Outcome.TOO_LONG, lambda: self.turn(main, _SLOW)),
            self._ends(main, Outcome.ASKED, lambda: self.turn(main, "approve 12*7", native)),
            self._ends(main, Outcome.EXPIRED, self.expired),
            self._ends(main, Outcome.CANCELED, self.stopped),
            self._ends(main, Outcome.CLIENT_GONE, self.left),
            self._ends(main, Outcome.ABANDONED, self.abandoned),
            self._ends(main, Outcome.NOTHING, self.nothing_to_resume),
            self._ends(strange, Outcome.SLOW_CLIENT, self.unread),
            self._ends(strange, Outcome.UNNAMED, lambda: self.turn(strange, session=NAMELESS)),
            self._ends(strange, Outcome.UNSOUND, lambda: self.turn(strange, session=NOISY)),
            self._ends(lost, Outcome.UNREACHABLE, lambda: self.turn(lost, "hi")),
            self.greedy(),
            self.turn(main, "hi", {"authorization": "Bearer nonsense"}),
            *(self.turn(strange, "hi", session=name) for name in _SESSIONS),
        )

    async def _ends(
        self, gateway: Served, outcome: Outcome, way: Callable[[], Awaitable[object]]
    ) -> None:
        """Go that way until a stream ended so: on a slow machine another end may come first."""
        before = gateway.logged_outcomes()[outcome.value]
        for _ in range(_TRIES):
            with contextlib.suppress(TimeoutError):
                await way()
            with contextlib.suppress(TimeoutError):
                await _until(lambda: gateway.logged_outcomes()[outcome.value] > before, 3)
                return

    async def keys(self) -> None:
        """The key set cannot be had at first."""
        await self.turn(self._rig.strange, "hi")
        self._rig.keys_are_there = True
        async with asyncio.timeout(_LONG_S):
            while await self.turn(self._rig.strange, "hi") != httpx.codes.OK:  # noqa: ASYNC110
                await asyncio.sleep(0.5)

    async def murmur(self, per_s: Callable[[float], float], for_s: float) -> None:
        """Plain turns, so many a second at each time, and now and then one of another kind."""
        begun, going = time.monotonic(), set[asyncio.Task[Any]]()
        while (at := time.monotonic() - begun) < for_s:
            going.add(asyncio.create_task(self._any()))
            await asyncio.sleep(self._dice.expovariate(per_s(at)))
        await asyncio.gather(*going)

    async def _any(self) -> None:
        main, strange, lost = self._rig.all
        kind = self._dice.random()
        if kind < 0.80:
            await self.turn(main, self._dice.choice(_WORDS))
        elif kind < 0.92:
            await self.turn(strange, "hi")
        elif kind < 0.95:
            with contextlib.suppress(TimeoutError):
                await self.left()
        elif kind < 0.97:
            await self.turn(main, "make the turn fail")
        elif kind < 0.99:
            await self.turn(main, "hi", {"authorization": "Bearer nonsense"})
        else:
            await self.turn(lost, "hi")

    async def turn(
        self,
        gateway: Served,
        text: str = "hi",
        headers: dict[str, str] | None = None,
        *,
        session: str | None = None,
    ) -> int:
        """One turn, read to its end, wherever that is."""
        try:
            async with self._asking(gateway, text, headers, session=session) as response:
                await response.aread()
                return response.status_code
        except httpx.TransportError:  # its connection was cut, or there was none
            return 0

    async def expired(self) -> None:
        soon = int(time.time()) + 2
        await self.turn(self._rig.main, _SLOW, bearer(self._name(), exp=soon))

    async def stopped(self) -> None:
        session = self._name()
        async with self._asking(self._rig.main, _SLOW, session=session) as response:
            chat = Chat(response)
            await chat.sees("no hurry")
            async with new_client() as client:
                url = f"{self._rig.main.url}/api/sessions/{session}/stop"
                await client.post(url, headers=bearer())
            await chat.end()

    async def left(self) -> None:
        async with self._asking(self._rig.main, _SLOW) as response:
            chat = Chat(response)
            await chat.sees("no hurry")
            await chat.hang_up()

    async def abandoned(self) -> None:
        """Leaves while another's turn runs, for longer than one may wait without a client."""
        session = self._name()
        async with self._asking(self._rig.main, _SLOW, session=session) as first:
            running = Chat(first)
            await running.sees("no hurry")
            async with self._asking(self._rig.main, "hi", session=session) as second:
                waiting = Chat(second)
                await waiting.sees("queued")
                await waiting.hang_up()
            await running.end()

    async def unread(self) -> None:
        """Asks for a flood and reads nothing of it but its status, until it has ended somehow."""
        loop, gateway = asyncio.get_running_loop(), self._rig.strange
        session = f"{FLOOD}{self._name()}"
        path = f"/api/sessions/{session}/chat"
        asked = request(json.dumps(ask()).encode(), path=path, headers=self._strange())
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.setblocking(False)  # noqa: FBT003 (the library's signature)
            await loop.sock_connect(sock, ("127.0.0.1", gateway.port))
            await loop.sock_sendall(sock, asked)
            if await loop.sock_recv(sock, len(_OK)) == _OK:
                await _until(lambda: _has_ended(gateway, session), _LONG_S)

    async def greedy(self) -> None:
        """More streams than one user may have."""
        mine = bearer("greedy")
        await asyncio.gather(*(self.turn(self._rig.main, _WORDS[1], mine) for _ in range(8)))

    async def nothing_to_resume(self) -> None:
        url = f"{self._rig.main.url}/api/sessions/{self._name()}/chat/c/stream"
        async with new_client() as client:
            await client.get(url, headers=bearer())

    def _strange(self) -> dict[str, str]:
        return {"authorization": f"Bearer {SIGNER.token(KEY_ID)}"}

    def _name(self) -> str:
        return f"s{next(self._numbers)}"

    @contextlib.asynccontextmanager
    async def _asking(
        self,
        gateway: Served,
        text: str,
        headers: dict[str, str] | None = None,
        *,
        session: str | None = None,
    ) -> AsyncIterator[httpx.Response]:
        name = self._name()
        own = self._strange() if gateway is self._rig.strange else bearer(name)
        async with (
            new_client() as client,
            client.stream(
                "POST",
                f"{gateway.url}/api/sessions/{session or name}/chat",
                json=ask(text),
                headers={**own, **(headers or {})},
            ) as response,
        ):
            yield response


async def _until(fact: Callable[[], object], within_s: float) -> None:
    """Wait until a log says so: seldom looked at, since all of it is read, by many who wait."""
    async with asyncio.timeout(within_s):
        while not fact():  # noqa: ASYNC110 (another process has no event)
            await asyncio.sleep(0.1)


def _has_ended(gateway: Served, session: str) -> bool:
    return any(line["session_id"] == session for line in gateway.logged("stream ended"))


_SESSIONS: Final = ("unknown", "denied", "unauthorized", "failed")
"""Of the strange gateway, whose agent or control plane does not like them."""
