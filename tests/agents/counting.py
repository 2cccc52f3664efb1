"""An agent of a framework, the pieces of whose model are counted."""

import asyncio
from asyncio.subprocess import PIPE
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from turnwire_lab.agents.frameworks.agent import MODEL, FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS

COUNTED: Final = Path(__file__).parent / "counted.py"


class CountedAgent(FrameworkAgent):
    """`pieces` is how many its model has made so far, wherever that model runs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        framework = FRAMEWORKS[name]
        self.pieces = 0
        self._model = MODEL if framework.asks_server else framework.application
        self._more = asyncio.Condition()

    async def until(self, pieces: int) -> None:
        async with self._more:
            await self._more.wait_for(lambda: self.pieces >= pieces)

    async def _serve(
        self, stack: AsyncExitStack, python: Path, application: str, port: int
    ) -> None:
        if application != self._model:
            await super()._serve(stack, python, application, port)
            return
        command = (python, COUNTED, application.partition(":")[0], str(port))
        process = await self._run(stack, command, application, port, PIPE)
        assert process.stdout is not None
        following = asyncio.create_task(self._follow(process.stdout))
        stack.callback(following.cancel)

    async def _follow(self, output: asyncio.StreamReader) -> None:
        while await output.readline():
            async with self._more:
                self.pieces += 1
                self._more.notify_all()
