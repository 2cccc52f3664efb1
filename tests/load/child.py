"""The agent and the crowd as processes, and the gateway between them."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from load.crowd import Ended, Plan

_TESTS: Final = Path(__file__).parents[1]


class Child:
    """A module of the tests as a process; it ends with its input, at the latest."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = (sys.executable, "-m", module, *arguments)

    async def line(self, within_s: float) -> bytes:
        """What it says next."""
        assert self._process.stdout is not None
        said = await asyncio.wait_for(self._process.stdout.readline(), within_s)
        assert said, f"{self._command[2]} ended"
        return said

    def kill(self) -> None:
        self._process.kill()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env=os.environ | {"PYTHONPATH": str(_TESTS)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and self._process.returncode is None:
            self._process.kill()
        await self._process.communicate(b"")


class Agent(Child):
    url = ""

    def __init__(self) -> None:
        super().__init__("load.agent")

    def end_all(self) -> None:
        """End every turn that is idle."""
        self.signal(signal.SIGUSR1)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        port = int(await self.line(20))
        self.url = f"ws://127.0.0.1:{port}/api/sessions/{{session_id}}/ws?role=client"
        return self


class Crowd(Child):
    """`async with Crowd(Plan(...)) as crowd:` opens streams."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("load.crowd", msgspec.json.encode(plan).decode())

    async def all_open(self, within_s: float) -> None:
        assert await self.line(within_s) == b'"opened"\n'

    async def ended(self, within_s: float) -> Ended:
        return msgspec.json.decode(await self.line(within_s), type=Ended)


async def crowd(plan: Plan, within_s: float = 60) -> Ended:
    """Open streams that end by themselves, and see them through."""
    async with Crowd(plan) as opened:
        await opened.all_open(within_s)
        return await opened.ended(within_s)
