"""A key that a command prints, as those of password managers do."""

import asyncio
import contextlib
import os
import signal
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from typing import Final

from turnwire_agent.llm.credentials.concurrency import SingleFlight
from turnwire_agent.llm.credentials.key_header import usable_key
from turnwire_agent.llm.credentials.port import Failure, unless_failed
from turnwire_agent.llm.credentials.secret import Secret

_BYTES_MAX: Final = 64 * 1024


class KeyCommand:
    """The first line of what a command writes to its standard output.

    The command runs without a shell. Tasks that want the key share one run. What the command writes
    to its standard error is thrown away: it may hold the key. Of its arguments no message shows
    more than the first.

    Args:
        argv: The program and its arguments.
        timeout_s: The command and all it started are killed after that.
        kept_s: How long a key is used before the command is asked again.
        monotonic: A clock in seconds that is never set.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 10.0,
        kept_s: float = 300.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not argv:
            raise ValueError("A key command needs at least the name of a program.")
        self._argv = tuple(argv)
        self._timeout_s = timeout_s
        self._kept_s = kept_s
        self._monotonic = monotonic
        self._flight = SingleFlight[Secret | Failure]()
        self._key: Secret | None = None
        self._kept_until = 0.0

    def __repr__(self) -> str:
        return f"KeyCommand({self._argv[0]})"

    async def read(self) -> Secret:
        if self._key is not None and self._monotonic() < self._kept_until:
            return self._key
        return unless_failed(await self._flight.join(self._run))

    def expire(self) -> None:
        self._key = None

    async def _run(self) -> Secret | Failure:
        printed = await self._printed()
        if isinstance(printed, Failure):
            return printed
        line = printed.partition(b"\n")[0].removesuffix(b"\r").decode("latin-1")
        key = usable_key(line, f"the output of {self._named}")
        if isinstance(key, Secret):
            self._key = key
            self._kept_until = self._monotonic() + self._kept_s
        return key

    async def _printed(self) -> bytes | Failure:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, start_new_session=True
            )
        except OSError as error:
            return Failure("unusable", f"No key: {self._named}: {error.strerror}.")
        try:
            async with asyncio.timeout(self._timeout_s):
                printed = await _output(process)
                status = await process.wait()
        except TimeoutError:
            await _kill(process)
            return Failure(
                "unavailable", f"No key: {self._named} took more than {self._timeout_s:g} s."
            )
        except asyncio.CancelledError:
            await _kill(process)
            raise
        if status:
            return Failure(
                "unavailable",
                f"No key: {self._named} ended with status {status}. Run it by hand to see why: "
                "what it writes may hold secrets, and is not shown.",
            )
        return printed

    @property
    def _named(self) -> str:
        return f"the command {self._argv[0]}"


async def _output(process: Process) -> bytes:
    """The output, up to a bound. The rest is read and dropped, so that nobody waits."""
    assert process.stdout is not None
    kept = b""
    while piece := await process.stdout.read(_BYTES_MAX):
        kept += piece[: _BYTES_MAX - len(kept)]
    return kept


async def _kill(process: Process) -> None:
    """Kill the command, and what it started, which may hold the pipe open.

    Not after an ordinary end: a daemon that it started, as an agent of keys, lives on.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
