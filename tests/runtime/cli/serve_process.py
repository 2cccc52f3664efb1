"""`turnwire-agent serve` as a process of its own, and a gateway's end of its sockets."""

import asyncio
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from websockets.asyncio.client import connect

from runtime.host.hosted import Socket

TESTS: Final = Path(__file__).parents[2]
ANNOUNCED: Final = re.compile(r"serves TURNWIRE_AGENT_URL=(ws://\S+)\n")
START_S: Final = 30.0
STOP_S: Final = 20.0


@dataclass
class Served:
    """A server that listens."""

    process: Process
    url: str

    @asynccontextmanager
    async def socket(self, session: str = "s1", token: str = "") -> AsyncIterator[Socket]:
        """Open a socket as a gateway does, and read its `init`."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        url = self.url.replace("{session_id}", session)
        async with connect(url, additional_headers=headers, proxy=None) as connection:
            socket = Socket(connection)
            await socket.next()
            yield socket

    async def stop(self, by: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code, and its log."""
        self.process.send_signal(by)
        async with asyncio.timeout(STOP_S):
            _, errors = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()


async def started(
    *arguments: str,
    folder: Path,
    variables: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Process:
    """Start a command in a folder, with no variable of ours but these."""
    return await asyncio.create_subprocess_exec(
        *(python, "-m", "turnwire_agent", *arguments),
        cwd=folder,
        env={"PYTHONPATH": str(TESTS), **(variables or {})},
        stdout=PIPE,
        stderr=PIPE,
    )


async def ended(
    *arguments: str, folder: Path, variables: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """The exit code of a command, what it wrote, and its errors."""
    process = await started(*arguments, folder=folder, variables=variables)
    out, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


@asynccontextmanager
async def serving(
    *arguments: str,
    folder: Path,
    variables: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> AsyncIterator[Served]:
    """Serve on a free port, unless the arguments name one."""
    where = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
    process = await started(
        "serve", *arguments, *where, folder=folder, variables=variables, python=python
    )
    assert process.stdout
    assert process.stderr
    try:
        async with asyncio.timeout(START_S):
            line = (await process.stdout.readline()).decode()
        announced = ANNOUNCED.fullmatch(line)
        assert announced, (await process.stderr.read()).decode()
        yield Served(process, announced[1])
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
