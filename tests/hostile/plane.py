"""A control plane that knows one token, and thinks for long about every other.

It has a process of its own, as the newcomers have: `python -m hostile.plane`, with the token in the
environment, tells a gateway's settings, and is there until its input ends.
"""

import asyncio
import os
import secrets
import subprocess
import sys
from typing import Final, Self

import msgspec

from gateway.control_plane import ControlPlane, Question, granted, reply
from hostile.newcomers import TESTS
from hostile.victims import USER
from turnwire_lab.bench import machine

SLOW_S: Final = 3.0
"""What it takes for a token that it does not know."""
_TOKEN: Final = "HOSTILE_TOKEN"


class SlowPlane:
    """`async with SlowPlane() as plane:` has `token` and `settings`."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.settings: dict[str, object] = {}

    @property
    def pid(self) -> int:
        return self._process.pid

    async def __aenter__(self) -> Self:
        with machine.pinned(machine.cores().rig):
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "hostile.plane"),
                env={**os.environ, "PYTHONPATH": str(TESTS), _TOKEN: self.token},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdout is not None
        self.settings = msgspec.json.decode(await self._process.stdout.readline())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.communicate()


async def _slowly(question: Question, writer: asyncio.StreamWriter) -> None:
    if question.headers["authorization"] == f"Bearer {os.environ[_TOKEN]}":
        writer.write(granted(user=USER))
    else:
        await asyncio.sleep(SLOW_S)
        writer.write(reply(401))


async def _serve() -> None:
    async with ControlPlane(_slowly) as plane:
        sys.stdout.buffer.write(msgspec.json.encode(plane.settings()) + b"\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
