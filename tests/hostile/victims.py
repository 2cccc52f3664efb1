"""The well-behaved: an agent and a hundred streams, in C, so that they cost next to nothing."""

import asyncio
import http.client
import os
import subprocess
from dataclasses import dataclass
from typing import Final, Self

from gateway.waiting import until
from turnwire_lab.bench import machine
from turnwire_lab.bench.load import Found, Load, Plan, found
from turnwire_lab.bench.tools import Tools
from turnwire_lab.process import HOST

PATH: Final = "/api/sessions/well-behaved-%d/chat"
USER: Final = "bench"
"""Whom the agent names as the author of prompts."""
RATE: Final = 50
"""Deltas a second, of each stream."""
PATIENCE_S: Final = 6.0
"""How much longer than it should take a stream may."""


@dataclass(frozen=True, kw_only=True)
class Crowd:
    streams: int
    seconds: float
    """How long each stream goes on, once all are open."""

    @property
    def load(self) -> Load:
        plan = Plan(deltas=round(self.seconds * RATE) + 1, rate=RATE, hold=True)
        patience_s = self.seconds + PATIENCE_S
        return Load(plan=plan, streams=self.streams, patience_s=patience_s)


class Victims:
    """`async with Victims(...) as victims:` has all streams open, held behind their first delta."""

    def __init__(
        self, tools: Tools, crowd: Crowd, *, gateway_port: int, agent_port: int, bearer: str
    ) -> None:
        self._tools = tools
        self._crowd = crowd
        self._gateway_port = gateway_port
        self._agent_port = agent_port
        self._bearer = bearer

    @property
    def pid(self) -> int:
        return self._process.pid

    def go(self) -> None:
        """Let them go on."""
        self._ask("POST", "/go")

    async def found(self) -> Found:
        """Wait for their end, or for that of their patience."""
        output, _ = await self._process.communicate()
        return found(output)

    async def __aenter__(self) -> Self:
        arguments = self._crowd.load.arguments(self._gateway_port, PATH, frames=False)
        with machine.pinned(machine.cores().rig):
            self._process = await asyncio.create_subprocess_exec(
                *self._tools.client,
                *arguments,
                env={**os.environ, "BENCH_TOKEN": self._bearer},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        await until(lambda: self._held() >= self._crowd.streams, 10)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()

    def _held(self) -> int:
        return int(self._ask("GET", "/stats").partition(b'"held":')[2].split(b",")[0])

    def _ask(self, method: str, path: str) -> bytes:
        connection = http.client.HTTPConnection(HOST, self._agent_port, timeout=10)
        try:
            connection.request(method, path)
            return connection.getresponse().read()
        finally:
            connection.close()
