"""The gateway of the demo: a child process, ready once it is entered. The lab never imports it."""

import asyncio
import signal
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Final, Self

import httpx

from turnwire_lab.held_log import Log
from turnwire_lab.process import HOST, ServeProcess, free_port, inherited

START_S: Final = 60.0
"""When to give up on a gateway that neither starts nor ends; a busy machine takes its time."""
POLL_S: Final = 0.05
DRAIN_S: Final = 2


class GatewayDown(Exception):  # noqa: N818 - a message for a person, in one line
    """The gateway does not run; the text is the reason."""


class PortTaken(GatewayDown):
    """A port is in use; `option` chooses another."""

    def __init__(self, port: int, option: str) -> None:
        super().__init__(f"Port {port} on {HOST} is in use.")
        self.port = port
        self.option = option


class Gateway(ServeProcess):
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
        super().__init__({})
        self.port = port
        self._metrics_port = metrics_port
        self._agent_url = agent_url
        self._jwt_key = jwt_key
        self._settings = settings or {}
        self._start_s = start_s
        self._log = Log() if holds_log else None
        self._restarting = False
        self._restarted = asyncio.Event()

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
        self.signal(signal.SIGKILL)

    async def __aenter__(self) -> Self:
        # Without this look first, another gateway on the same port would answer for ours.
        self.port = _free(self.port, "--port")
        if self._metrics_port:
            _free(self._metrics_port, "--metrics-port")
        await self._start()
        return self

    async def _start(self) -> None:
        self._env = self._environ()
        # Its own group: Ctrl-C is ours to pass on, once its turns may still speak to the agent.
        await self._launch(log=None if self._log is None else PIPE, own_group=True)
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
        return inherited() | {
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
        await self._finish()
        if self._log is not None:
            await self._log.ended()


def _free(port: int, option: str) -> int:
    """That port, or for 0 one that no process has; `GatewayDown` if it is taken."""
    try:
        return free_port(port)
    except (OSError, OverflowError):
        raise PortTaken(port, option) from None
