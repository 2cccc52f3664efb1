"""Agents to be harmed: the lab's own as a process, and a scripted one that tells a known text."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from gateway import frames
from gateway.agent import Line
from gateway.waiting import PATIENCE_S

WORDS: Final = [f"{number} " for number in range(40)]
TEXT: Final = "".join(WORDS)


async def tell(line: Line) -> None:
    """A turn of some forty frames, whose text is `TEXT`."""
    await tell_on(line)
    await line.say(frames.finalize())


async def tell_on(line: Line) -> None:
    """The same without an end."""
    await line.begin()
    for word in WORDS:
        await line.say(frames.delta(word))


class AgentProcess:
    """`turnwire-lab agent`: prompts like `hang` and `be slow` say what it is to do."""

    def __init__(
        self, *, port: int = 0, host: str = "127.0.0.1", prefix: Sequence[str] = ()
    ) -> None:
        self.url = ""
        options = {"port": port, "host": host, "pace": 0.003}
        named = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._command = (*prefix, sys.executable, "-m", "turnwire_lab", "agent", *named)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def gone(self) -> None:
        """Wait for its end."""
        await asyncio.wait_for(self._process.wait(), PATIENCE_S)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env={name: value for name, value in os.environ.items() if "TURNWIRE" not in name},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), PATIENCE_S)
        url = re.search(r"ws://\S+", line.decode())
        assert url is not None, line
        self.url = url[0]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process.returncode is None:
            self.signal(signal.SIGCONT)
            self._process.kill()
        await self._process.communicate()
