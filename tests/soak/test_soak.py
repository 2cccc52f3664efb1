"""Everything at once, for a while; then nothing may be left, and the books must balance.

make soak                       a minute
make soak MINUTES=30 SEED=7     half an hour, with other dice
"""

import asyncio
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from load.watching import MIB, Held, Watched
from soak.acts import ACTS, Act, deck
from soak.books import UNHEEDED, Books
from soak.client import RequestRecord, User
from soak.faults import Dicey, kill_now_and_then, to_the_agent, to_the_gateway
from soak.lives import Lives

MINUTES: Final = float(os.environ.get("MINUTES") or 1)
SEED: Final = int(os.environ.get("SEED") or 1)

BEGINS_AND_ENDS_S: Final = 35
"""About what that takes."""
WARM_UP: Final = 1 / 5
"""Of the traffic: after it memory is judged, since every kind of thing has happened by then."""
AT_ONCE: Final = 16
THINKS_S: Final = 0.5
BACKS_OFF_S: Final = 1.5
"""Whoever finds no agent; else a dead one would see most of the traffic."""
GROWN_MIB: Final = 8
"""More than this, and something is kept."""

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(int(MINUTES * 60) + 120)]

PATIENCE: Final = {
    "idle_s": 4,
    "grace_s": 1,
    "stall_s": 2,
    "keepalive_s": 1,
    "dial_s": 2,
    "verdict_s": 2,
    "queue_wait_s": 5,
    "turn_s": 8,
    "token_expiry": "cut",
}
"""Short, so that a minute has room for every ending."""

ALWAYS: Final = frozenset(
    (
        *("completed", "canceled", "client_gone", "silent", "slow_client", "too_long", "expired"),
        *("abandoned", "nothing"),
    )
)
"""Outcomes that some act always has."""
OFTEN: Final = frozenset(("failed", "interrupted", "unreachable"))
"""Outcomes that a minute of dice has. The others need an agent of another kind, or a restart."""


class Logged(Watched):
    """A gateway whose log is kept line by line: it is long."""

    def __init__(self, agent_url: str, **given: object) -> None:
        super().__init__(agent_url, **given)
        self.lines: list[Mapping[str, Any]] = []

    async def _read(self) -> int:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            if not self.port:
                self.errors += line.decode()
            self.lines.append(json.loads(line))
        return await self._process.wait()


class Crowd:
    """Users who come one after the other, `AT_ONCE` at a time."""

    def __init__(self, dice: random.Random, ports: tuple[int, int]) -> None:
        self.heard: list[RequestRecord] = []
        self._dice = dice
        self._ports = ports
        self._users = 0
        self._deck: list[Act] = []

    async def each_once(self) -> None:
        await asyncio.gather(*(self._visit(act) for act in ACTS))

    async def visit_for(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds

        async def go_on() -> None:
            while loop.time() < until:
                self._deck = self._deck or deck(self._dice)
                verdict = await self._visit(self._deck.pop())
                await asyncio.sleep(THINKS_S * self._dice.random())
                if verdict == "unreachable":
                    await asyncio.sleep(BACKS_OFF_S)

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(go_on())

    def _visit(self, act: Act) -> Awaitable[str]:
        self._users += 1
        dice = random.Random(self._dice.random())  # noqa: S311 (dice of a test)
        # Half of them share a room, and a room does not live for ever: its history is long.
        room = f"room-{self._users // 60}" if dice.random() < 0.5 else f"own-{self._users}"
        if act.__name__ in {
            "wait_in_vain",
            "read_no_more",
            "stop",
            "be_cut_off",
            "take_too_long",
            "expire",
            "give_up_in_the_queue",
        }:
            room = f"own-{self._users}"  # what hangs would hold up all others
        user = User(f"u{self._users}", act.__name__, room, self._ports)
        return self._see(act, user, dice)

    async def _see(self, act: Act, user: User, dice: random.Random) -> str:
        await act(user, dice)
        self.heard += user.heard
        return user.heard[0].verdict


async def test_a_soak_leaves_nothing_behind_and_its_books_balance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(SEED)  # noqa: S311 (dice of a test)
    lines = random.Random(dice.random())  # noqa: S311
    deaths = random.Random(dice.random())  # noqa: S311

    def tell(text: object) -> None:
        with capsys.disabled():
            sys.stderr.write(f"\n{text}\n")

    async with (
        Lives(tmp_path) as agent,
        Dicey(agent.port, lambda: to_the_agent(lines)) as near_agent,
        Logged(_url(near_agent.port), **PATIENCE) as gateway,
        Dicey(gateway.port, lambda: to_the_gateway(lines)) as near_gateway,
    ):
        crowd = Crowd(dice, (gateway.port, near_gateway.port))
        empty = await gateway.held()
        for _ in range(2):
            await crowd.each_once()
        begun = await gateway.settled(empty)
        seconds = max(10, MINUTES * 60 - BEGINS_AND_ENDS_S)
        killing = asyncio.create_task(kill_now_and_then(agent, deaths))
        await crowd.visit_for(seconds * WARM_UP)
        before = await gateway.settled(begun)
        tell(f"seed {SEED}, {MINUTES:g} min. Begun: {begun}. Warm: {before}")
        await crowd.visit_for(seconds * (1 - WARM_UP))
        killing.cancel()
        await asyncio.wait([killing])
        after = await gateway.settled(before)

        books = Books(crowd.heard, gateway.lines, agent.told())
        tell(_report(crowd, agent, near_agent, near_gateway, before, after))
        tell(books.table())
        assert not books.unexplained, "\n".join(books.unexplained[:10])
        assert +Counter(await gateway.counted("turnwire_streams_total")) == books.outcomes
        assert +Counter(await gateway.counted("turnwire_refusals_total")) == books.refusals
        assert books.outcomes.keys() >= ALWAYS | (OFTEN if MINUTES >= 1 else frozenset())
        assert not books.outcomes["crashed"]
        # Clients that leave stories: nearly all of their turns must have been stopped.
        unheeded = books.streams("client_gone", UNHEEDED)
        assert unheeded <= 2 + books.streams("client_gone") / 4
        assert (after.rss_bytes - before.rss_bytes) / MIB < GROWN_MIB


def _url(port: int) -> str:
    return f"ws://127.0.0.1:{port}/api/sessions/{{session_id}}/ws?role=client"


def _report(
    crowd: Crowd, agent: Lives, near_agent: Dicey, near_gateway: Dicey, before: Held, after: Held
) -> str:
    return (
        f"{len(crowd.heard)} requests, {sum(each.is_stream for each in crowd.heard)} streams; "
        f"{agent.kills} kills of the agent, {near_agent.cuts} of {near_agent.connections} lines "
        f"to it and {near_gateway.cuts} of {near_gateway.connections} to the gateway were to break"
        f"\nMemory {(after.rss_bytes - before.rss_bytes) / MIB:+.1f} MiB. Left: {after}"
    )
