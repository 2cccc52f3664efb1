"""New requests beside an attack: when each is answered. They come in time, answered or not."""

import asyncio
from typing import Final

from hostile.world import World
from turnwire_lab.bench.load import MARK, Plan

EVERY_S: Final = 0.2
PATIENCE_S: Final = 6.0
_PROMPT: Final = MARK + Plan(deltas=3, batch=3).words


class Newcomers:
    """`first_byte_s` and `refused` fill while `come` runs."""

    def __init__(self, port: int, bearer: str) -> None:
        self.first_byte_s: list[float] = []
        self.refused: list[bytes] = []
        """First bytes of those that were not 200; empty: nothing came, or not in time."""
        self._world = World(port, bearer=bearer)
        self._loop = asyncio.get_running_loop()

    async def come(self, seconds: float) -> None:
        """One after the other, for so long; then wait for the last one."""
        async with asyncio.TaskGroup() as group:
            start = self._loop.time()
            for number in range(max(1, round(seconds / EVERY_S))):
                await asyncio.sleep(max(0.0, start + number * EVERY_S - self._loop.time()))
                group.create_task(self._one(number))

    async def _one(self, number: int) -> None:
        asked = self._world.prompt(_PROMPT, session=f"newcomer-{number}")
        start = self._loop.time()
        data = b""
        try:
            async with asyncio.timeout(PATIENCE_S), self._world.connection() as connection:
                await connection.send(asked)
                data = await connection.read()
                self.first_byte_s.append(self._loop.time() - start)
                if not data.startswith(b"HTTP/1.1 200 "):
                    self.refused.append(data[:200])
                    return
                while data and not data.endswith(b"0\r\n\r\n"):
                    data = await connection.read()
        except (TimeoutError, OSError):
            if not data:
                self.first_byte_s.append(PATIENCE_S)
            self.refused.append(data[:200])
