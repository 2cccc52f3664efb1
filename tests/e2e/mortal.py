"""The reference agent as a process that can be killed, on a port that stays its own."""

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from gateway.agent_process import AgentProcess
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.process import free_port


class MortalAgent(ReferenceAgent):
    """`async with MortalAgent() as agent:` lives until `kill`, and again after `revive`.

    It keeps its histories in memory, so that a killed one remembers nothing.
    """

    def __init__(self) -> None:
        super().__init__(port=free_port())
        self._life = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self.revive()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.kill()

    async def kill(self) -> None:
        await self._life.aclose()

    async def revive(self) -> None:
        await self._life.enter_async_context(AgentProcess(port=self.port))
