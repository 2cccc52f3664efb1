"""A Redis on loopback, to be killed, stopped and filled: Debian's, or the one of `REDIS_SERVER`."""

import asyncio
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from gateway.needed import program
from gateway.waiting import PATIENCE_S
from turnwire_lab.process import free_port

BUS: Final = 10_000
"""How far above its port a node of a cluster listens to the others."""
FIRST_OF_THE_KERNEL: Final = 32_768
"""From here on the kernel gives ports to connections."""
DRAWS: Final = 1_000


def server() -> str:
    """The path of the server's program."""
    return os.environ.get("REDIS_SERVER") or program("redis-server")


async def ask(port: int, *words: str) -> str:
    """What `redis-cli` prints for one command; empty if nobody listens."""
    process = await asyncio.create_subprocess_exec(
        *(program("redis-cli"), "-p", str(port), *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    printed, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    return printed.decode().strip() if process.returncode == 0 else ""


def cluster_port() -> int:
    """A port of a node, whose other port, for the other nodes, is free too.

    The kernel gives that one to nobody's connection: it is below those that it gives away.
    """
    for _ in range(DRAWS):
        port = free_port()
        with suppress(OSError):
            if port + BUS < FIRST_OF_THE_KERNEL:
                free_port(port + BUS)
                return port
    raise AssertionError("no pair of ports is free")


class RedisServer:
    """`async with RedisServer(tmp_path) as redis:` listens on `redis.port` until it is harmed."""

    def __init__(self, folder: Path, *options: str, configuration: str = "") -> None:
        """`folder` is its own. `configuration` is a file, for a Sentinel."""
        self.port = cluster_port() if "--cluster-enabled" in options else free_port()
        self._folder = folder
        own = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder))
        kept = () if configuration else ("--save", "")
        file = (configuration,) if configuration else ()
        self._command = (server(), *file, *own, *kept, *options)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, or start it again: empty, on the same port."""
        await asyncio.to_thread(self.begin)

    def begin(self) -> None:
        """The same without a loop: for a server that outlives the loop of a test."""
        with (self._folder / f"{self.port}.log").open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        until = time.monotonic() + PATIENCE_S
        while not self._listens():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < until
            time.sleep(0.005)

    def log(self) -> str:
        return (self._folder / f"{self.port}.log").read_text()

    async def kill(self) -> None:
        """SIGKILL, and wait for its end. What it kept is lost."""
        await asyncio.to_thread(self.end)

    def end(self) -> None:
        """The same without a loop."""
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        """SIGSTOP: its connections stay open, and nothing answers."""
        self._process.send_signal(signal.SIGSTOP)

    def unpause(self) -> None:
        self._process.send_signal(signal.SIGCONT)  # does nothing to one that was killed

    async def fill(self) -> None:
        """From here on each write that needs memory is refused."""
        assert await self.ask("CONFIG", "SET", "maxmemory", "1") == "OK"

    async def make_room(self) -> None:
        assert await self.ask("CONFIG", "SET", "maxmemory", "0") == "OK"

    async def ask(self, *words: str) -> str:
        return await ask(self.port, *words)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.kill()

    def _listens(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0
