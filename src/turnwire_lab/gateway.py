"""A gateway as a child process: started, waited for, ended. The lab never imports it.

Rule: nothing is ended here but the process that was started here.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Final, Self

import httpx

from turnwire_lab.held import Log

HOST: Final = "127.0.0.1"
START_S: Final = 20.0
POLL_S: Final = 0.05
DRAIN_S: Final = 2
END_S: Final = 10.0
"""More than the gateway takes to drain; after that it is killed."""


class GatewayDown(Exception):  # noqa: N818 - what a person is told, in one line
    """The gateway is not there; the text says why."""


class PortTaken(GatewayDown):
    """Somebody has a port; `option` chooses another."""

    def __init__(self, port: int, option: str) -> None:
        super().__init__(f"Port {port} on {HOST} is in use.")
        self.port = port
        self.option = option


class Gateway:
    """`async with Gateway(agent_url=..., jwt_key=...) as gateway:` is a gateway that is ready."""

    def __init__(
        self,
        *,
        agent_url: str,
        jwt_key: str,
        port: int = 0,
        metrics_port: int = 0,
        settings: Mapping[str, str] | None = None,
        holds_log: bool = False,
        start_s: float = START_S,
    ) -> None:
        self.port = port
        self._metrics_port = metrics_port
        self._agent_url = agent_url
        self._jwt_key = jwt_key
        self._settings = settings or {}
        self._start_s = start_s
        self._log = Log() if holds_log else None
        self._restarting = False
        self._restarted = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    async def ended(self) -> int:
        """Wait for the process to end by itself."""
        while True:
            process = self._process
            status = await process.wait()
            if self._restarting:
                await self._restarted.wait()
            elif process is self._process:
                return status

    async def restart(self) -> None:
        """End it as a deployment would, and start another on the same ports."""
        self._restarting = True
        self._restarted.clear()
        try:
            await self._end()
            await self._start()
        finally:
            self._restarting = False
            self._restarted.set()

    def tell_log(self) -> None:
        """Let through what was logged so far, and all that comes."""
        if self._log is not None:
            self._log.tell()

    def kill(self) -> None:
        """End it as a crash would; `restart` brings it back."""
        self._process.kill()

    async def __aenter__(self) -> Self:
        # Without this look first, another gateway on the same port would answer for ours.
        self.port = _free(self.port, "--port")
        if self._metrics_port:
            _free(self._metrics_port, "--metrics-port")
        await self._start()
        return self

    async def _start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "turnwire", "serve"),
            env=self._environ(),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=None if self._log is None else asyncio.subprocess.PIPE,
            # Its own group: Ctrl-C is ours to pass on, once its turns may still speak to the agent.
            start_new_session=True,
        )
        if self._log is not None:
            self._log.follow(self._process)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._end)
            await self._ready()
            stack.pop_all()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._end()

    def _environ(self) -> dict[str, str]:
        # The gateway refuses settings it does not know, and a shell may hold some of other tools.
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("TURNWIRE_") and name != "ENABLE_AI_SDK_ADAPTER"
        }
        return inherited | {
            "TURNWIRE_ENABLED": "true",
            "TURNWIRE_HOST": HOST,
            "TURNWIRE_PORT": str(self.port),
            "TURNWIRE_METRICS_PORT": str(self._metrics_port),
            "TURNWIRE_AGENT_URL": self._agent_url,
            "TURNWIRE_JWT_KEY": self._jwt_key,
            "TURNWIRE_DRAIN_S": str(DRAIN_S),
            "TURNWIRE_ON_DISCONNECT_ALLOWED": "abort,grace,continue",
            **({} if self._log is None else {"TURNWIRE_LOG_FORMAT": self._log.form}),
            **self._settings,
        }

    async def _ready(self) -> None:
        try:
            async with asyncio.timeout(self._start_s), httpx.AsyncClient(trust_env=False) as client:
                while self._process.returncode is None:
                    with suppress(httpx.TransportError):
                        response = await client.get(f"{self.url}/readyz")
                        if response.status_code == httpx.codes.OK:
                            return
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise GatewayDown(f"The gateway was not ready within {self._start_s:g} s.") from None
        raise GatewayDown(f"The gateway ended at once (exit {self._process.returncode}).")

    async def _end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        if self._log is not None:
            await self._log.ended()


def _free(port: int, option: str) -> int:
    """That port, or for 0 one that nobody has; `GatewayDown` if it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            raise PortTaken(port, option) from None
        found: int = probe.getsockname()[1]
        return found
