"""The process of one connection: its lines in and out, and its end.

Its standard error is that of the bridge. It gets no variable of the gateway, whose values may be
secrets.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from turnwire.config.settings import PREFIX

PATIENCE_S: Final = 2.0
"""How long a process may take to end after its input ended, and again after SIGTERM; in seconds."""


class LineTooLongError(Exception):
    """A line is longer than the limit: the rest of it cannot be read."""


class AgentProcess:
    """A running agent. Made by `started`."""

    def __init__(self, process: asyncio.subprocess.Process, line_bytes: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.pid = process.pid
        self._process = process
        self._line_bytes = line_bytes
        self._input, self._output = process.stdin, process.stdout

    async def send(self, message: str) -> None:
        """Write a message as one line. Returns when the process takes more.

        The line breaks of a message in JSON stand between its values, where a space is as good.

        Raises:
            ConnectionError: the process reads no more.

        """
        line = message.replace("\r", " ").replace("\n", " ")
        self._input.write(line.encode() + b"\n")
        await self._input.drain()

    async def lines(self) -> AsyncIterator[str]:
        r"""Yield the lines of its output that are not empty, without their ends.

        A line ends at `\n` alone: U+2028 and its like may stand in a string. A last line may lack
        its end.

        Raises:
            LineTooLongError: a line is longer than the limit.
            UnicodeDecodeError: a line is not UTF-8.

        """
        while True:
            try:
                line = await self._output.readuntil(b"\n")
            except asyncio.LimitOverrunError as exc:
                raise LineTooLongError from exc
            except asyncio.IncompleteReadError as exc:
                line = exc.partial
                if not line:
                    return
            line = line.rstrip(b"\r\n")
            if len(line) > self._line_bytes:  # the buffer may hold more than the limit
                raise LineTooLongError
            if line:
                yield line.decode()

    async def end(self) -> int:
        """End the process and what it started. Returns its exit code, or less than 0: a signal."""
        self._input.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_S):
                    await self._process.wait()
                    break
            self._signal(number)
        code = await self._process.wait()
        self._signal(signal.SIGKILL)  # what it started, and did not end
        return code

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)  # its own group: `started` made it the leader of one


@asynccontextmanager
async def started(command: Sequence[str], line_bytes: int) -> AsyncIterator[AgentProcess]:
    """Run a command. Whatever happens, it does not outlive the context.

    `line_bytes`: longest line of its output.

    Raises:
        OSError: it cannot be started.

    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if not name.startswith(PREFIX)},
        limit=line_bytes + 1,  # with the end of the line
        start_new_session=True,
    )
    agent = AgentProcess(process, line_bytes)
    try:
        yield agent
    finally:
        await asyncio.shield(agent.end())
