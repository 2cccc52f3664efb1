"""`turnwire serve` as a process of its own, with its log."""

import asyncio
import json
import os
import signal
import socket
import sys
from types import TracebackType
from typing import Any, Self

from gateway.running import NOWHERE
from gateway.tokens import KEY
from gateway.waiting import PATIENCE_S, until


def environ(agent_url: str = NOWHERE, **given: object) -> dict[str, str]:
    """An environment that has these settings and none that the shell happens to have."""
    values: dict[str, object] = {
        "enabled": "true",
        "agent_url": agent_url,
        "jwt_key": KEY,
        "port": 0,
        "metrics_port": 0,
        "on_disconnect_allowed": "abort,grace,continue",
        "lag_s": 0,  # a busy machine is no reason to be refused
        **given,
    }
    others = {name: value for name, value in os.environ.items() if "TURNWIRE" not in name}
    return others | {f"TURNWIRE_{name.upper()}": str(value) for name, value in values.items()}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def command(*arguments: str, env: dict[str, str]) -> tuple[int, str, str]:
    """Run `turnwire` to its end: exit code, standard output, standard error."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", *arguments),
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


class Process:
    """`async with Process(agent.url()) as gateway:` is a gateway that listens."""

    def __init__(self, agent_url: str = NOWHERE, **given: object) -> None:
        self.errors = ""
        self.port = 0
        self._env = environ(agent_url, **given)
        self._command: tuple[str, ...] = (sys.executable, "-m", "turnwire", "serve")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines written so far; each must be one JSON object."""
        return [json.loads(line) for line in self.errors.splitlines()]

    def logged(self, event: str) -> list[dict[str, Any]]:
        whole = self.errors[: self.errors.rfind("\n") + 1]
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if line["event"] == event]

    def signal(self, number: int = signal.SIGTERM) -> None:
        self._process.send_signal(number)

    async def ended(self) -> int:
        return await asyncio.wait_for(asyncio.shield(self._ending), PATIENCE_S)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._env,
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        self._ending = asyncio.create_task(self._read())
        # The server's own first line comes when its signal handlers stand.
        await until(lambda: "Started server" in self.errors or self._ending.done())
        assert not self._ending.done(), self.errors
        self.port = self.logged("listening")[0]["port"]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._ending.done():
            # By SIGINT, after which it leaves by its own door and its coverage is kept.
            self.signal(signal.SIGINT)
            try:
                await self.ended()
            except TimeoutError:
                self._process.kill()
                await self._ending

    async def _read(self) -> int:
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(65_536):
            self.errors += data.decode()
        return await self._process.wait()
