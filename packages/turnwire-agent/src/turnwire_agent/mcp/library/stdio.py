"""A server that is a program: its process, its environment, its pipes.

The library's own transport has no bound for the length of a line, which a server decides.
"""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from turnwire_agent.mcp.errors import GoneError
from turnwire_agent.mcp.settings import Program

PLAIN_VARIABLES: Final = (
    *("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
)
"""Variables that every program gets, if this process has them. None of them is a secret."""
EXIT_S: Final = 2.0
"""How long a program may take to end after its input ended, and again after SIGTERM."""
WAITING_MAX: Final = 16
"""Most messages that wait for a program that does not read. Who stops a call waits for none."""

_POLL_S: Final = 0.01
_Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]
_CLOSED: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError)


def environment(program: Program, own: Mapping[str, str]) -> dict[str, str]:
    """What a program gets of the variables of this process, and its own."""
    names = {*PLAIN_VARIABLES, *program.inherited}
    return {name: value for name, value in own.items() if name in names} | dict(program.variables)


class StdioTransport:
    """The process, for as long as the context lasts. One message is one line, both ways."""

    def __init__(self, program: Program, message_bytes: int) -> None:
        self._program = program
        self._message_bytes = message_bytes
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> _Streams:
        program = self._program
        try:
            self._process = await asyncio.create_subprocess_exec(
                program.command,
                *program.arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=None if program.shows_errors else asyncio.subprocess.DEVNULL,
                env=environment(program, os.environ),
                cwd=program.folder,
                limit=self._message_bytes,
                start_new_session=True,  # so that what it starts ends with it
            )
        except (OSError, ValueError) as exc:
            why = (isinstance(exc, OSError) and exc.strerror) or type(exc).__name__
            raise GoneError(f"its program cannot be started: {why}") from exc
        received, to_read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_send, sent = anyio.create_memory_object_stream[SessionMessage](WAITING_MAX)
        self._streams = (received, to_read, to_send, sent)
        self._tasks = [
            asyncio.create_task(self._read(received)),
            asyncio.create_task(self._write(sent, received)),
        ]
        return to_read, to_send

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            # A scope that was cancelled cancels each wait inside it: the program would live on.
            with anyio.CancelScope(shield=True):
                await self._end()
        finally:
            self._kill(signal.SIGKILL)
            for task in self._tasks:
                task.cancel()
            for stream in self._streams:
                stream.close()
            with anyio.CancelScope(shield=True):
                await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, received: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Read until the program ends its output.

        What nobody wants any more is read too: a program that cannot write does not end.
        """
        output = self._process.stdout
        assert output
        try:
            while line := await output.readline():
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    continue  # many programs write something for people first
                with suppress(*_CLOSED):
                    await received.send(SessionMessage(message))
        except (ValueError, OSError):  # a line that is too long
            return
        finally:
            received.close()

    async def _write(
        self,
        sent: MemoryObjectReceiveStream[SessionMessage],
        received: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        pipe = self._process.stdin
        assert pipe
        try:
            async for each in sent:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                pipe.write(text.encode() + b"\n")
                await pipe.drain()
        except OSError:
            received.close()  # else a request would wait for its answer for ever
        finally:
            pipe.close()

    async def _end(self) -> None:
        """End the program: by the end of its input, else by signals."""
        _, _, to_send, _ = self._streams
        to_send.close()
        for step in (signal.SIGTERM, signal.SIGKILL):
            if await self._exited():
                return
            self._kill(step)
        await self._exited()

    async def _exited(self) -> bool:
        """Whether it ended in time.

        `Process.wait` would wait for its pipes too, which its children may hold.
        """
        with anyio.move_on_after(EXIT_S):
            while self._process.returncode is None:  # noqa: ASYNC110 (nothing tells of it)
                await anyio.sleep(_POLL_S)
        return self._process.returncode is not None

    def _kill(self, with_signal: signal.Signals) -> None:
        """Signal the program, and what it started. Its group has its own process id."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, with_signal)
