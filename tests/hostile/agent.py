"""The agent of hostile sessions: connections come to it from the agent of the others."""

import asyncio
import socket
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from gateway import frames
from hostile.attack import SESSION_AGENT, AgentAttack, Script, text
from hostile.line import GoneError, Line
from hostile.world import USER
from support import session_agent_frames as product

_HEAD_BYTES: Final = 65_536


class HostileAgent:
    """`async with HostileAgent(path) as agent:` takes connections at a socket of datagrams."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._script: Script | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def play(self, script: Script | None) -> None:
        """Do this from now on with whoever connects; whoever is connected is left."""
        self._script = script
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def __aenter__(self) -> Self:
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._door.bind(str(self._path))
        self._door.setblocking(False)  # noqa: FBT003 (the library's signature)
        asyncio.get_running_loop().add_reader(self._door, self._take)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._door)
        self._door.close()
        await self.play(None)

    def _take(self) -> None:
        head, descriptors, _, _ = socket.recv_fds(self._door, _HEAD_BYTES, 1)
        for descriptor in descriptors:
            sock = socket.socket(fileno=descriptor)
            sock.setblocking(False)  # noqa: FBT003 (the library's signature)
            if self._script is None:
                sock.close()
                continue
            task = asyncio.create_task(_converse(sock, head, self._script))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            # Even if it was cancelled before it began.
            task.add_done_callback(partial(_close, sock))


def _close(sock: socket.socket, _: asyncio.Task[None]) -> None:
    sock.close()


async def _converse(sock: socket.socket, head: bytes, script: Script) -> None:
    try:
        async with Line(sock, head) as line:
            await script(line)
    except (GoneError, OSError):
        pass


class Stream:
    """What became of one stream of a hostile agent."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.since: float | None = None
        """When its first block was written."""

    def lasted_s(self, now: float) -> float:
        """From the end of its first block to its own, or until now."""
        end = now if self.line.over_at is None else self.line.over_at
        return 0.0 if self.since is None else max(0.0, end - self.since)


class Attacker:
    """Does what an attack says with each connection, and keeps books."""

    def __init__(self, attack: AgentAttack) -> None:
        self.attack = attack
        self.streams: list[Stream] = []
        # What is large is made once, before anything is measured.
        first = list(islice(attack.blocks(), 2))
        self._only = first if len(first) == 1 else []

    async def script(self, line: Line) -> None:
        stream = Stream(line)
        self.streams.append(stream)
        if not self.attack.is_hello:
            await self._begin(line)
        await line.pour(self._blocks(stream), self.attack.bytes_per_s)
        await line.end()

    def _blocks(self, stream: Stream) -> Iterator[bytes]:
        """A block is asked for when the one before it was written."""
        for block in self._only or self.attack.blocks():
            yield block
            if stream.since is None:
                stream.since = asyncio.get_running_loop().time()

    async def _begin(self, line: Line) -> None:
        if self.attack.wire == SESSION_AGENT:
            await line.send(text(product.init("V")))
            asked = await line.prompt()
            await line.send(text(product.user(asked["content"], "prompt-1", by=USER)))
            await line.send(text(product.begin()))
        else:
            asked = await line.prompt()
            await line.send(text(frames.text(frames.create(asked["promptId"])).encode()))
