"""Programs as child processes: their environment, their port, `turnwire serve` among them.

Rule: nothing is ended here but the process that was started here.
"""

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from signal import SIGKILL, SIGTERM
from typing import Final

HOST: Final = "127.0.0.1"
END_S: Final = 10.0
"""More than a gateway takes to drain here; after that it is killed."""

_PORTS: Final = range(20_000, 32_000)
"""Below those that Linux gives to connections: one could take a free port before its use."""
_DRAWS: Final = 100


def inherited() -> dict[str, str]:
    """Our environment without the settings of a gateway.

    A gateway refuses settings that it does not know, and a shell may hold some of other tools.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TURNWIRE_") and name != "ENABLE_AI_SDK_ADAPTER"
    }


def free_port(port: int = 0) -> int:
    """That port of loopback, or for 0 a port that no process has.

    Raises:
        OSError: another process has the port.
        OverflowError: it is no port.

    """
    if port:
        return _probed(port)
    for _ in range(_DRAWS):
        with suppress(OSError):
            return _probed(secrets.choice(_PORTS))
    raise OSError("no port is free")


def _probed(port: int) -> int:
    """The same port, which is free, or was left a moment ago."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, port))
    return port


class ServeProcess:
    """`turnwire serve` as a child process. Whoever starts it ends it."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.port = 0
        self._env = dict(environ)
        self._command: tuple[str, ...] = (sys.executable, "-m", "turnwire", "serve")

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def signal(self, number: int = SIGTERM) -> None:
        """Send a signal, unless the process has ended."""
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def _launch(self, *, log: int | None, own_group: bool = False) -> None:
        """Start the process. `log` is its standard error, None: ours."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._env,
            stdin=asyncio.subprocess.DEVNULL,
            stderr=log,
            start_new_session=own_group,
        )

    async def _finish(self, number: int = SIGTERM, *, within_s: float = END_S) -> None:
        """End the process by a signal, and kill it if it has not ended within `within_s`."""
        self.signal(number)
        try:
            async with asyncio.timeout(within_s):
                await self._process.wait()
        except TimeoutError:
            self.signal(SIGKILL)
            await self._process.wait()
