"""A run of pydantic-ai whose own code cannot end the process.

pydantic-ai runs tools and outputs in tasks of its own: what they raise must be contained there.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai.capabilities import AbstractCapability

from turnwire_agent.drivers.contained import contained

_Handler = Callable[[Any], Awaitable[Any]]


class ContainedRun(AbstractCapability[Any]):  # type: ignore[misc]
    """Around all of the agent's own code."""

    async def wrap_run(self, _: Any, *, handler: Callable[[], Awaitable[Any]]) -> Any:
        return await contained(handler())

    async def wrap_tool_execute(self, _: Any, *, args: Any, handler: _Handler, **__: Any) -> Any:
        return await contained(handler(args))

    async def wrap_output_validate(
        self, _: Any, *, output: Any, handler: _Handler, **__: Any
    ) -> Any:
        return await contained(handler(output))

    async def wrap_output_process(
        self, _: Any, *, output: Any, handler: _Handler, **__: Any
    ) -> Any:
        return await contained(handler(output))
