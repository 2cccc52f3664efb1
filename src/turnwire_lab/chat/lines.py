"""The input of the chat, line by line, without a thread that could not be stopped.

A prompt and the answer to a question are both just the next line, so one reader hands them out, and
an answer that is no longer wanted leaves the line to whoever comes next.
"""

import asyncio
import os
from typing import TextIO

_AT_ONCE = 65_536


class Lines:
    """The lines of a terminal, a pipe or a file; of something that has no descriptor, none."""

    def __init__(self, stdin: TextIO | None) -> None:
        self._descriptor = _descriptor(stdin)
        self.typed = self._descriptor is not None and os.isatty(self._descriptor)
        """Whether a person types them."""
        self._read = b""
        self._at_end = self._descriptor is None

    async def next(self) -> str | None:
        """The next line, without its end and the blanks around it; None when there are no more."""
        while b"\n" not in self._read and not self._at_end:
            data = await self._more()
            self._read += data
            # Ctrl-D ends a terminal's input once: typed later, it may be read again.
            if not data:
                self._at_end = not self.typed
                break
        if not self._read:
            return None
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace").strip()

    async def _more(self) -> bytes:
        assert self._descriptor is not None
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        try:
            loop.add_reader(self._descriptor, _be_ready, ready)
        except PermissionError:  # a plain file, which is always ready
            return os.read(self._descriptor, _AT_ONCE)
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)
        try:
            return os.read(self._descriptor, _AT_ONCE)
        except OSError:  # the terminal is gone
            return b""


def _be_ready(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


def _descriptor(stdin: TextIO | None) -> int | None:
    try:
        return None if stdin is None else stdin.fileno()
    except (OSError, ValueError):
        return None
