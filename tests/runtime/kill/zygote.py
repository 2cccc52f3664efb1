"""A process that has imported the agent, and forks it in a moment."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from runtime.host.hosted import Hosted
from runtime.kill.mortal import Death
from turnwire_lab.process import free_port

TESTS = Path(__file__).parents[2]
PATIENCE_S = 60.0
"""For what comes at once. The machine may be busy."""


@dataclass
class AgentProcess:
    """An agent that was forked."""

    host: Hosted
    pid: int
    report: Path

    def counted(self) -> tuple[int, int, int]:
        """Its transactions, the rounds of its loop, and its writes that came too late."""
        if not self.report.read_text():
            return 0, 0, 0
        commits, rounds, refused = map(int, self.report.read_text().split())
        return commits, rounds, refused

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    async def gone(self) -> None:
        """Wait until it is dead, or stopped."""
        while self._state() not in {"", "T", "Z"}:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.005)

    def _state(self) -> str:
        try:
            status = Path(f"/proc/{self.pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return ""
        return status.rpartition(")")[2].split()[0]


class Zygote:
    """`async with Zygote() as zygote` forks agents."""

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "runtime.kill.mortal",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=TESTS,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
            start_new_session=True,  # so that all that it forked ends with it
        )
        self._forking = asyncio.Lock()
        return self

    async def __aexit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def fork(
        self, journal: str, provider: str, world: Path, report: Path, death: Death
    ) -> AgentProcess:
        """Start an agent; return when it listens."""
        assert self._process.stdin
        assert self._process.stdout
        async with self._forking:
            port = free_port()
            arguments = {
                "run": [port, journal, provider, str(world), str(report)],
                "death": asdict(death),
            }
            self._process.stdin.write(json.dumps(arguments).encode() + b"\n")
            await self._process.stdin.drain()
            async with asyncio.timeout(PATIENCE_S):
                line = await self._process.stdout.readline()
        return AgentProcess(
            Hosted(port, None),  # type: ignore[arg-type] # it is in another process
            int(line.split()[1]),
            report,
        )
