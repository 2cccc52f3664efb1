"""One run of a tool: cancelled at its deadline, abandoned if it does not end then."""

import asyncio
import logging
from typing import Any, Final

from msgspec.structs import replace

from turnwire_agent import metrics
from turnwire_agent.tools.contract import Context, Tool, ToolFailed
from turnwire_agent.tools.run import outcome
from turnwire_agent.tools.run.outcome import ToolOutcome
from turnwire_agent.tools.run.raised import described
from turnwire_agent.tools.run.tool_thread import ToolRun, ToolThread

LOGGER: Final = logging.getLogger("turnwire_agent.tools")
GRACE_S: Final = 1.0
"""How long a cancelled tool may clean up. Then nobody waits for it any more."""


class ToolRunner:
    """Runs tools of all sessions of a process."""

    def __init__(self, thread: ToolThread, *, grace_s: float = GRACE_S) -> None:
        self._thread = thread
        self._grace_s = grace_s
        self._ending: set[asyncio.Task[None]] = set()
        self.abandoned = 0
        """Tools that were cancelled, and still ran when their time to clean up was over."""

    async def run(self, tool: Tool, value: Any, context: Context) -> ToolOutcome:
        """Run a tool to its end, or to its deadline.

        Args:
            tool: Which.
            value: Its validated input.
            context: What the tool may know of its call. Its deadline is set here.

        Returns:
            How it ended. Whatever the tool raises is in it: nothing of it but the words of
            `ToolFailed` is for anybody else.

        Raises:
            CancelledError: this was cancelled, and the tool with it. It does not wait for the tool.

        """
        deadline = asyncio.get_running_loop().time() + tool.timeout_s
        bounded = replace(context, deadline=deadline)
        running = self._thread.start(lambda: tool.call(value, bounded))
        try:
            await asyncio.wait([running.done], timeout=tool.timeout_s)
        except asyncio.CancelledError:
            self._end(tool, running)
            metrics.TOOL_RUNS.labels("canceled").inc()
            raise
        if not running.done.done():
            self._end(tool, running)
            LOGGER.warning("tool: name=%s outcome=timeout seconds=%.3f", tool.name, tool.timeout_s)
            metrics.TOOL_RUNS.labels("timeout").inc()
            return outcome.failed(outcome.TOO_LONG)
        ended = _outcome(tool, running.done)
        metrics.TOOL_RUNS.labels(ended.kind).inc()
        return ended

    def _end(self, tool: Tool, running: ToolRun) -> None:
        running.cancel()
        task = asyncio.create_task(self._abandon(tool, running))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _abandon(self, tool: Tool, running: ToolRun) -> None:
        await asyncio.wait([running.done], timeout=self._grace_s)
        if not running.done.done():
            self.abandoned += 1
            metrics.TOOLS_ABANDONED.inc()
            LOGGER.warning("tool: name=%s outcome=abandoned", tool.name)


def _outcome(tool: Tool, done: "asyncio.Future[Any]") -> ToolOutcome:
    if done.cancelled():
        return ToolOutcome(kind="canceled", parts=(outcome.CANCELED,), error=outcome.CANCELED)
    error = done.exception()
    if error is None:
        return outcome.done(done.result())
    if isinstance(error, ToolFailed):
        return outcome.failed(str(error) or outcome.FAILED)
    LOGGER.warning("tool: name=%s outcome=raised %s", tool.name, described(error))
    return outcome.failed(outcome.FAILED)
