"""`turnwire serve` as a process of its own, with its log."""

import asyncio
import json
import sys
from signal import SIGINT
from types import TracebackType
from typing import Any, Self

from gateway.running import NOWHERE
from gateway.tokens import KEY
from gateway.waiting import PATIENCE_S, until
from turnwire_lab.process import ServeProcess, inherited


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
    return inherited() | {f"TURNWIRE_{name.upper()}": str(value) for name, value in values.items()}


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


class Process(ServeProcess):
    """`async with Process(agent.url()) as gateway:` is a gateway that listens."""

    def __init__(self, agent_url: str = NOWHERE, **given: object) -> None:
        super().__init__(environ(agent_url, **given))
        self.errors = ""

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines written so far; each must be one JSON object."""
        return [json.loads(line) for line in self.errors.splitlines()]

    def logged(self, event: str) -> list[dict[str, Any]]:
        whole = self.errors[: self.errors.rfind("\n") + 1]
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if line["event"] == event]

    async def ended(self) -> int:
        return await asyncio.wait_for(asyncio.shield(self._ending), PATIENCE_S)

    async def __aenter__(self) -> Self:
        await self._launch(log=asyncio.subprocess.PIPE)
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
        # By SIGINT, after which it leaves by its own door and its coverage is kept.
        await self._finish(SIGINT, within_s=PATIENCE_S)
        await self._ending

    async def _read(self) -> int:
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(65_536):
            self.errors += data.decode()
        return await self._process.wait()
