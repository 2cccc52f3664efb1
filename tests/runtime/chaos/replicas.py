"""Replicas of one agent, which are killed, stopped and started again."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from runtime.host.hosted import Hosted
from turnwire_lab.process import free_port, inherited

ATTEMPTS = 20
DICE = random.Random("replicas")  # noqa: S311 - no secret
TESTS = Path(__file__).parents[2]


class ReplicaProcess:
    """`turnwire-agent serve` at a port that stays the same."""

    def __init__(self, journal: str, environment: Mapping[str, str], log: Path) -> None:
        self.port = free_port()
        self._journal = journal
        self._environment = {**inherited(), **environment, "PYTHONPATH": str(TESTS)}
        self._log = log

    async def start(self) -> None:
        """Start it, again and again as a supervisor does; return when it listens."""
        for _ in range(ATTEMPTS):
            if await self._starts():
                return
            await asyncio.sleep(0.5)  # its database may be gone for a moment
        raise AssertionError(self._log.read_text()[-2000:])

    async def end(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)
        await self._process.wait()

    async def _starts(self) -> bool:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "turnwire_agent", "serve", "runtime.chaos.agent:agent"),
                *("--journal", self._journal, "--listen", f"127.0.0.1:{self.port}"),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                cwd=TESTS,
                env=self._environment,
            )
        assert self._process.stdout
        if (await self._process.stdout.readline()).startswith(b"serves "):
            return True
        await self._process.wait()
        return False


class Replicas:
    """All of them. A client comes to any."""

    def __init__(self, journal: str, provider: str, world: Path, count: int = 2) -> None:
        environment = {
            "CHAOS_PROVIDER": provider,
            "CHAOS_WORLD": str(world),
            "CHAOS_KEY": "canary-key",
            "PATH": os.environ["PATH"],
        }
        self.each = [
            ReplicaProcess(journal, environment, world.with_suffix(f".log-{number}"))
            for number in range(count)
        ]

    async def start(self) -> None:
        await asyncio.gather(*(each.start() for each in self.each))

    async def end(self) -> None:
        await asyncio.gather(*(each.end(signal.SIGKILL) for each in self.each))

    async def restart(self, number: signal.Signals, which: ReplicaProcess | None = None) -> None:
        replica = which or DICE.choice(self.each)
        await replica.end(number)
        await replica.start()

    def any(self) -> Hosted:
        port = DICE.choice(self.each).port
        return Hosted(port, None)  # type: ignore[arg-type] # it is in another process
