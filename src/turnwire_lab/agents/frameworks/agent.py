"""An agent of a framework as a child process, on loopback, with a model that needs no network."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, Process
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from signal import SIGKILL
from typing import Final

from turnwire_lab.agents.frameworks.catalog import EXAMPLES, FRAMEWORKS
from turnwire_lab.process import HOST, free_port, inherited
from turnwire_lab.service import Service

START_S: Final = 60.0
POLL_S: Final = 0.05
SAME: Final = {"PYTHONHASHSEED": "0"}
"""So that two recordings differ in nothing that does not matter."""


class AgentDown(Exception):  # noqa: N818 - a message for a person, in one line
    """The agent does not run; the text is the reason."""


class FrameworkAgent(Service):
    """`async with FrameworkAgent("pydantic-ai") as agent:` answers at `agent.url`.

    `log` is where its standard error goes: None is ours. If it is not `offline`, AGENT_MODEL and
    OPENAI_BASE_URL of our environment choose its model, where they are set.

    Raises:
        AgentDown: its environment is not there, or it does not start.
        OSError: another process has the port.

    """

    def __init__(
        self, name: str, *, port: int = 0, log: int | None = DEVNULL, offline: bool = True
    ) -> None:
        self._framework = FRAMEWORKS[name]
        self._log = log
        self._environ = inherited()
        if offline:
            for variable in ("AGENT_MODEL", "OPENAI_BASE_URL"):
                self._environ.pop(variable, None)
        self.port = port

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}{self._framework.path}"

    @property
    def history(self) -> str:
        """Who keeps the conversation, in the words of TURNWIRE_HISTORY."""
        return self._framework.history

    async def _start(self, stack: AsyncExitStack) -> None:
        framework = self._framework
        if not framework.python.exists():
            raise AgentDown(f"{framework.name} is not installed: `make agents` does it.")
        self.port = free_port(self.port)
        if framework.asks_server and "OPENAI_BASE_URL" not in self._environ:
            model = free_port()
            self._environ["OPENAI_BASE_URL"] = f"http://{HOST}:{model}/v1"
            self._environ["OPENAI_API_KEY"] = "none"
            await self._serve(stack, Path(sys.executable), "offline.openai_server:app", model)
        await self._serve(stack, framework.python, framework.application, self.port)

    async def _serve(
        self, stack: AsyncExitStack, python: Path, application: str, port: int
    ) -> None:
        """Start an application of examples/agents, and wait until it takes connections."""
        process = await asyncio.create_subprocess_exec(
            *(python, "-m", "uvicorn", application, "--port", str(port), "--log-level", "error"),
            cwd=EXAMPLES,
            env={**self._environ, **SAME},
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=self._log,
            start_new_session=True,
        )
        stack.push_async_callback(_end, process)
        await _ready(process, application, port)


async def _ready(process: Process, application: str, port: int) -> None:
    try:
        async with asyncio.timeout(START_S):
            while process.returncode is None:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection(HOST, port)
                    writer.close()
                    return
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise AgentDown(f"{application} was not ready within {START_S:g} s.") from None
    raise AgentDown(f"{application} ended at once (exit {process.returncode}).")


async def _end(process: Process) -> None:
    """Kill it: an agent may go on for long with a turn that nobody reads."""
    with suppress(ProcessLookupError):
        process.send_signal(SIGKILL)
    await process.wait()
