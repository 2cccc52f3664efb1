"""New requests beside an attack: when each is answered. They come in time, answered or not.

They have a process of their own, since whoever attacks is busy:
`python -m hostile.newcomers PORT SECONDS`, with a token in the environment, says that it is ready,
begins when it is told a line, and says what it found.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Final, Self

import msgspec
from msgspec import Struct

from hostile.world import World
from turnwire_lab.bench import machine
from turnwire_lab.bench.load import MARK, Plan

EVERY_S: Final = 0.2
TESTS: Final = Path(__file__).parents[1]
PATIENCE_S: Final = 6.0
_PROMPT: Final = MARK + Plan(deltas=3, batch=3).words
_TOKEN: Final = "HOSTILE_TOKEN"


class Answers(Struct):
    """What became of them."""

    first_byte_s: list[float] = []
    refused: list[str] = []
    """First bytes of those that were not 200; empty: nothing came, or not in time."""


class Newcomers:
    """`async with Newcomers(port, bearer, seconds) as newcomers:` has them ready to come."""

    def __init__(self, port: int, bearer: str, seconds: float) -> None:
        self._port = port
        self._bearer = bearer
        self._seconds = seconds

    @property
    def pid(self) -> int:
        return self._process.pid

    async def come(self) -> Answers:
        """One after the other, for so long; then wait for the last one."""
        output, _ = await self._process.communicate(b"\n")
        return msgspec.json.decode(output, type=Answers)

    async def __aenter__(self) -> Self:
        with machine.pinned(machine.cores().rig):
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "hostile.newcomers", str(self._port), str(self._seconds)),
                env={**os.environ, "PYTHONPATH": str(TESTS), _TOKEN: self._bearer},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdout is not None
        await self._process.stdout.readline()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()


async def _come(port: int, bearer: str, seconds: float) -> Answers:
    found = Answers()
    world = World(port, bearer=bearer)
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        start = loop.time()
        for number in range(max(1, round(seconds / EVERY_S))):
            await asyncio.sleep(max(0.0, start + number * EVERY_S - loop.time()))
            group.create_task(_one(world, number, found))
    return found


async def _one(world: World, number: int, found: Answers) -> None:
    loop = asyncio.get_running_loop()
    asked = world.prompt(_PROMPT, session=f"newcomer-{number}")
    start = loop.time()
    data = b""
    try:
        async with asyncio.timeout(PATIENCE_S), world.connection() as connection:
            await connection.send(asked)
            data = await connection.read()
            found.first_byte_s.append(loop.time() - start)
            if not data.startswith(b"HTTP/1.1 200 "):
                found.refused.append(data[:200].decode(errors="replace"))
                return
            while data and not data.endswith(b"0\r\n\r\n"):
                data = await connection.read()
    except (TimeoutError, OSError):
        if not data:
            found.first_byte_s.append(PATIENCE_S)
        found.refused.append(data[:200].decode(errors="replace"))


def main() -> None:
    port, seconds = sys.argv[1:]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    answers = asyncio.run(_come(int(port), os.environ[_TOKEN], float(seconds)))
    sys.stdout.buffer.write(msgspec.json.encode(answers))


if __name__ == "__main__":
    main()
