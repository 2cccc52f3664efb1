"""An agent that is killed and comes back, on the same port, as somebody who knows nothing."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

import msgspec

from load.child import Child
from turnwire_lab.agents.v2.journal import Run


class RecordedRun(msgspec.Struct, frozen=True):
    """A run as far as it was written down."""

    run: Run
    killed: bool
    """Whether its agent was, sooner or later."""


class Lives:
    """`async with Lives(folder) as agent:` has lived once when it begins."""

    def __init__(self, folder: Path) -> None:
        self.port = 0
        self._folder = folder
        self._journals: list[Path] = []
        self._alive: tuple[Child, AsyncExitStack] | None = None

    @property
    def kills(self) -> int:
        return len(self._journals) - 1

    async def start(self) -> None:
        stack = AsyncExitStack()
        journal = self._folder / f"life-{len(self._journals)}"
        child = Child("soak.agent", str(self.port), str(journal))
        await stack.enter_async_context(child)
        self._alive = child, stack
        self.port = int(await child.line(20))
        self._journals.append(journal)

    async def kill(self) -> None:
        """Kill it, unless it is dead."""
        if self._alive is not None:
            (child, stack), self._alive = self._alive, None
            child.kill()
            await stack.aclose()

    def told(self) -> dict[str, list[RecordedRun]]:
        """The runs of every life, by user."""
        by_user: dict[str, list[RecordedRun]] = {}
        for journal in self._journals:
            lines = journal.read_bytes().split(b"\n")[:-1]
            runs = [msgspec.json.decode(line, type=Run) for line in lines]
            killed = journal is not self._journals[-1]
            for run in {run.turn_id: run for run in runs}.values():  # as it was written last
                by_user.setdefault(str(run.user_id), []).append(RecordedRun(run, killed))
        return by_user

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()
