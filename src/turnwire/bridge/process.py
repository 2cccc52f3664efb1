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

REST_S: Final = 0.5
"""How long the output of a process that has ended may stay silent and open, in seconds."""

_POLL_S: Final = 0.05
"""Between two looks whether a process has ended. Its pipes do not tell: others may hold them."""


class LineTooLongError(Exception):
    """A line is longer than the limit: the rest of it cannot be read."""


class _Output(asyncio.StreamReaderProtocol):
    """The pipe of its output, which can be closed while others still hold it."""

    transport: asyncio.ReadTransport

    def __init__(self, reader: asyncio.StreamReader) -> None:
        super().__init__(reader)
        self.reader = reader
        self.received_bytes = 0

    def data_received(self, data: bytes) -> None:
        self.received_bytes += len(data)
        super().data_received(data)


class AgentProcess:
    """A running agent. Made by `started`."""

    def __init__(
        self, process: asyncio.subprocess.Process, output: _Output, line_bytes: int
    ) -> None:
        assert process.stdin is not None
        self.pid = process.pid
        self._process = process
        self._line_bytes = line_bytes
        self._input, self._output = process.stdin, output
        self._is_reading = False
        """Whether somebody waits for its next line."""
        self._noticing = asyncio.create_task(self._notice_exit())

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
            self._is_reading = True
            try:
                line = await self._output.reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as exc:
                raise LineTooLongError from exc
            except asyncio.IncompleteReadError as exc:
                line = exc.partial
                if not line:
                    return
            finally:
                self._is_reading = False
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
                    await self._exit()
                    break
            self._signal(number)
        code = await self._exit()
        self._signal(signal.SIGKILL)  # what it started, and did not end
        # Whoever got away holds no pipe of ours open.
        self._noticing.cancel()
        if self._input.transport.get_write_buffer_size():  # else it is closed
            self._input.transport.abort()
        self._output.transport.close()
        return code

    async def _exit(self) -> int:
        """Wait until the process has ended. `Process.wait` waits for the end of its pipes, too."""
        while (code := self._process.returncode) is None:  # noqa: ASYNC110 (nothing tells it)
            await asyncio.sleep(_POLL_S)
        return code

    async def _notice_exit(self) -> None:
        """End the output behind the last word of a process, though its children hold it open."""
        await self._exit()
        silent_s, received = 0.0, self._output.received_bytes
        while silent_s < REST_S:
            await asyncio.sleep(_POLL_S)
            if received != self._output.received_bytes:
                silent_s, received = 0.0, self._output.received_bytes
            elif self._is_reading:
                silent_s += _POLL_S
        self._output.transport.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)  # its own group: `started` made it the leader of one


async def _output(descriptor: int, line_bytes: int) -> _Output:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=line_bytes + 1)  # with the end of the line
    output = _Output(reader)
    output.transport, _ = await loop.connect_read_pipe(
        lambda: output, os.fdopen(descriptor, "rb", 0)
    )
    return output


@asynccontextmanager
async def started(command: Sequence[str], line_bytes: int) -> AsyncIterator[AgentProcess]:
    """Run a command. Whatever happens, it does not outlive the context.

    `line_bytes`: longest line of its output.

    Raises:
        OSError: it cannot be started.

    """
    reading, writing = os.pipe()
    output = await _output(reading, line_bytes)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=writing,
            env={name: value for name, value in os.environ.items() if not name.startswith(PREFIX)},
            start_new_session=True,
        )
    except BaseException:
        output.transport.close()
        raise
    finally:
        os.close(writing)
    agent = AgentProcess(process, output, line_bytes)
    try:
        yield agent
    finally:
        await asyncio.shield(agent.end())
