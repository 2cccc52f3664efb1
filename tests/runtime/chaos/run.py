"""Two replicas on one Postgres lose their processes for minutes, and nobody loses an answer.

    make agent-chaos FOR=60 SESSIONS=20 SEED=7

A replica is killed every ten seconds; the server of the database is restarted once; in the end
both replicas are restarted in order, under a turn of each session. It prints a report, and exits
with 1 if a promise was broken.
"""

import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from gateway.postgres_server import PostgresServer
from runtime.chaos.agent import LEASE_S
from runtime.chaos.client import Client
from runtime.chaos.replicas import Replicas
from runtime.host.hosted import Frame
from runtime.kill.heard import turns
from runtime.kill.promises import ONCE, history_by_prompt
from runtime.kill.provider import Provider, wanted_by
from runtime.kill.scene import text_of, whole_text
from runtime.kill.world import acts

DICE: Final = random.Random(os.environ.get("SEED") or "1")  # noqa: S311 - no secret
KILL_EVERY_S: Final = 10.0
TURNS_MAX: Final = 30
"""Most turns of a session; after them its client begins another."""
GAP_MAX_S: Final = LEASE_S + 13.0
"""Longest silence of a turn. The promise is a second more than the lease; a machine that starts
processes meanwhile, and a database that restarts, take their time."""
PROMPTS: Final = (
    *("talk", "talk", "use read", "use pay mail", "use read+pay+mail", "use mail pay read"),
    "use erase",
)


class Books:
    """What clients were told, and what is wrong with it."""

    def __init__(self) -> None:
        self.turns: Counter[str] = Counter()
        self.kills = 0
        self.compared = 0
        self.gaps: list[float] = []
        self.wrong: list[str] = []

    def check(self, client: Client, prompts: dict[str, str], init: Frame) -> None:
        """Compare a session with what its client has of it."""
        parts = turns(init)
        if list(parts) != list(prompts):
            self.wrong.append(f"{client.session}: turns {list(parts)}, asked {list(prompts)}")
        shown = history_by_prompt(init)
        for prompt_id, prompt in prompts.items():
            self._check_turn(f"{client.session} {prompt_id}", prompt, parts.get(prompt_id, []))
            if prompt_id in client.seen:
                self.compared += 1
                if client.seen[prompt_id] != shown.get(prompt_id):
                    self.wrong.append(f"{client.session} {prompt_id}: a client has something else")

    def _check_turn(self, where: str, prompt: str, parts: list[Frame]) -> None:
        reason = parts[-1].get("reason", "none") if parts else "none"
        self.turns[reason] += 1
        if reason == "end_turn":
            if text_of(parts) != whole_text(prompt):
                self.wrong.append(f"{where}: the text is {text_of(parts)!r}")
            calls = [part["toolName"] for part in parts if part["type"] == "tool-call"]
            if calls != [name for step in wanted_by(prompt) for name in step.split("+")]:
                self.wrong.append(f"{where}: calls {calls}")
        elif reason != "error":
            self.wrong.append(f"{where}: ended as {reason}")

    def check_world(self, world: Path, parts: list[list[Frame]]) -> None:
        """What was done is what people were told."""
        done = Counter(acts(world))
        for (name, key), times in done.items():
            if name in ONCE and times > 1:
                self.wrong.append(f"{name} was done {times} times: {key}")
        calls = [part for each in parts for part in each if part["type"] == "tool-call"]
        for name in ("pay", "mail", "erase"):
            completed = sum(
                part["toolName"] == name and part["status"] == "completed" for part in calls
            )
            keys = sum(each == name for each, _ in done)
            made = sum(part["toolName"] == name for part in calls)
            if not completed <= keys <= made:
                self.wrong.append(f"{name}: {made} calls, {completed} completed, {keys} effects")

    def report(self) -> str:
        """What happened, in a few lines."""
        gaps = sorted(self.gaps) or [0.0]
        lines = [
            f"{self.kills} kills, {sum(self.turns.values())} turns: {dict(self.turns)}",
            f"{self.compared} turns as their clients have them, compared with the history",
            f"{len(gaps)} turns went on elsewhere, half within {gaps[len(gaps) // 2]:.1f} s",
            f"the longest silence was {gaps[-1]:.1f} s; the lease is {LEASE_S:g} s",
        ]
        return "\n".join([*lines, *(f"WRONG {each}" for each in self.wrong[:50])])


class Run:
    """One run."""

    def __init__(self, replicas: Replicas, postgres: PostgresServer, seconds: float) -> None:
        self._replicas = replicas
        self._postgres = postgres
        self._until = time.monotonic() + seconds
        self._seconds = seconds
        self.books = Books()
        self.parts: list[list[Frame]] = []

    async def all(self, sessions: int) -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(sessions):
                tasks.create_task(self._converse(f"c{number}"))
            tasks.create_task(self._kill())
            tasks.create_task(self._restart_database())
        await self._roll(sessions)

    async def _converse(self, name: str) -> None:
        for number in range(10_000):
            if time.monotonic() >= self._until:
                return
            await self._one_session(Client(self._replicas, f"{name}-{number}"))

    async def _one_session(self, client: Client) -> None:
        prompts: dict[str, str] = {}
        for number in range(TURNS_MAX):
            if prompts and time.monotonic() >= self._until:
                break
            prompts[f"p{number}"] = DICE.choice(PROMPTS)
            await self._turn(client, prompts[f"p{number}"], f"p{number}")
            await asyncio.sleep(DICE.random())
        # Whatever happened before: the next prompt works.
        prompts["last"] = "hello"
        await self._turn(client, "hello", "last")
        await self._close(client, prompts)

    async def _turn(self, client: Client, prompt: str, prompt_id: str) -> None:
        try:
            await client.turn(prompt, prompt_id)
        except TimeoutError:
            self.books.wrong.append(f"{client.session} {prompt_id}: it does not end")

    async def _close(self, client: Client, prompts: dict[str, str]) -> None:
        init = await client.init()
        self.books.check(client, prompts, init)
        self.books.gaps += client.gaps
        self.parts += turns(init).values()

    async def _kill(self) -> None:
        while time.monotonic() + KILL_EVERY_S < self._until:
            await asyncio.sleep(KILL_EVERY_S)
            await self._replicas.restart(signal.SIGKILL)
            self.books.kills += 1

    async def _restart_database(self) -> None:
        await asyncio.sleep(self._seconds / 2)
        await asyncio.to_thread(self._postgres.stop)
        await asyncio.sleep(1.0)
        await asyncio.to_thread(self._postgres.start)

    async def _roll(self, sessions: int) -> None:
        """Restart one replica after the other, as an operator does: no turn is lost."""
        clients = [Client(self._replicas, f"rolling-{number}") for number in range(sessions)]
        prompt = "use read pay mail"
        async with asyncio.TaskGroup() as tasks:
            for client in clients:
                tasks.create_task(self._turn(client, prompt, "p0"))
            await asyncio.sleep(0.3)
            for each in self._replicas.each:
                await self._replicas.restart(signal.SIGTERM, each)
        for client in clients:
            await self._close(client, {"p0": prompt})
            if turns(await client.init())["p0"][-1]["reason"] != "end_turn":
                self.books.wrong.append(f"{client.session}: lost in a rolling restart")


async def run(seconds: float, sessions: int) -> Books:
    """Break what can break for so long; return what clients saw of it."""
    with tempfile.TemporaryDirectory(prefix="agent-chaos-") as folder, PostgresServer() as postgres:
        world = Path(folder) / "world"
        async with Provider() as provider:
            replicas = Replicas(postgres.url(), provider.url, world)
            await replicas.start()
            try:
                one = Run(replicas, postgres, seconds)
                await one.all(sessions)
            finally:
                await replicas.end()
        one.books.check_world(world, one.parts)
    if max(one.books.gaps, default=0.0) > GAP_MAX_S:
        one.books.wrong.append("a turn was silent for too long")
    return one.books


def main() -> int:
    seconds = float(os.environ.get("FOR") or 600)
    books = asyncio.run(run(seconds, int(os.environ.get("SESSIONS") or 50)))
    sys.stdout.write(books.report() + "\n")
    return 1 if books.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
