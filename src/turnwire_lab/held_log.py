"""What a child logs, held back until there is something above it for a person to read."""

import asyncio
import sys
from typing import Final

PIECE: Final = 65_536


class Log:
    """Standard error of one child after another, passed on to ours."""

    def __init__(self) -> None:
        self._released = asyncio.Event()
        self._passing: asyncio.Task[None] | None = None

    @property
    def form(self) -> str:
        """The form that `auto` would choose, were the child's standard error ours."""
        return "console" if sys.stderr.isatty() else "json"

    def follow(self, child: asyncio.subprocess.Process) -> None:
        """Pass on what this one logs; one that was followed before has ended."""
        assert child.stderr is not None
        self._passing = asyncio.create_task(self._pass_on(child.stderr))

    def tell(self) -> None:
        """Hold nothing back any more."""
        self._released.set()

    async def ended(self) -> None:
        """The child has ended: pass on all of its log."""
        self.tell()
        if self._passing is not None:
            await self._passing

    async def _pass_on(self, log: asyncio.StreamReader) -> None:
        await self._released.wait()
        while data := await log.read(PIECE):
            sys.stderr.buffer.write(data)
            sys.stderr.buffer.flush()
