"""An agent of a framework as a child process, on loopback, with a model that needs no network."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from signal import SIGKILL
from typing import Final

import httpx

from turnwire_lab.agents.frameworks.catalog import EXAMPLES, FRAMEWORKS, OTHER_AGENTS
from turnwire_lab.process import HOST, free_port, inherited
from turnwire_lab.service import Service

MODEL: Final = "offline.openai_server:app"
"""The model of those frameworks that ask a server."""
START_S: Final = 60.0
POLL_S: Final = 0.05
SAME: Final = {"PYTHONHASHSEED": "0"}
"""So that two recordings differ in nothing that does not matter."""
QUIET: Final = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
}
"""So that no framework asks anybody but its model."""


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
        self._framework = FRAMEWORKS.get(name) or OTHER_AGENTS[name]
        self._log = log
        self._environ = inherited()
        if offline:
            for variable in ("AGENT_MODEL", "OPENAI_BASE_URL"):
                self._environ.pop(variable, None)
        self.port = port

    @property
    def url(self) -> str:
        """Where it answers; over WebSocket, a template with `{session_id}`."""
        return f"{self._framework.scheme}://{HOST}:{self.port}{self._framework.path}"

    @property
    def title(self) -> str:
        return self._framework.title

    @property
    def history(self) -> str:
        """Who keeps the conversation, in the words of TURNWIRE_HISTORY."""
        return self._framework.history

    @property
    def wire(self) -> str:
        """What it speaks, in the words of TURNWIRE_DIALECT."""
        return self._framework.wire

    @property
    def settings(self) -> Mapping[str, str]:
        """What else a gateway before it needs."""
        return dict(self._framework.settings)

    async def _start(self, stack: AsyncExitStack) -> None:
        framework = self._framework
        if not framework.python.exists():
            raise AgentDown(f"{framework.name} is not installed: `make agents` does it.")
        self.port = free_port(self.port)
        if framework.is_program:
            file = f"{framework.application.partition(':')[0]}.py"
            command = (framework.python, file, "--port", str(self.port))
            process = await self._run(stack, command, file, self.port)
            await _loaded(process, file, f"http://{HOST}:{self.port}{framework.health}")
            return
        if framework.asks_server and "OPENAI_BASE_URL" not in self._environ:
            model = free_port()
            self._environ["OPENAI_BASE_URL"] = f"http://{HOST}:{model}/v1"
            self._environ["OPENAI_API_KEY"] = "none"
            await self._serve(stack, Path(sys.executable), MODEL, model)
        await self._serve(stack, framework.python, framework.application, self.port)

    async def _serve(
        self, stack: AsyncExitStack, python: Path, application: str, port: int
    ) -> None:
        """Start an application of examples/agents; a subclass may start it otherwise."""
        command = (python, "-m", "uvicorn", application, "--port", str(port))
        await self._run(stack, (*command, "--log-level", "error"), application, port)

    async def _run(
        self,
        stack: AsyncExitStack,
        command: Sequence[str | Path],
        application: str,
        port: int,
        output: int = DEVNULL,
    ) -> Process:
        """Start a process, and wait until it takes connections."""
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=EXAMPLES,
            env={**self._environ, **SAME, **QUIET},
            stdin=DEVNULL,
            stdout=output,
            stderr=self._log,
            start_new_session=True,
        )
        stack.push_async_callback(_end, process)
        await _ready(process, application, port)
        return process


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


async def _loaded(process: Process, file: str, health: str) -> None:
    """Wait until a program is ready: it may take connections before it has read its weights."""
    with suppress(TimeoutError):
        async with asyncio.timeout(START_S), httpx.AsyncClient(trust_env=False) as client:
            while process.returncode is None:
                with suppress(httpx.HTTPError):
                    if (await client.get(health)).is_success:
                        return
                await asyncio.sleep(POLL_S)
    raise AgentDown(f"{file} was not ready within {START_S:g} s.")


async def _end(process: Process) -> None:
    """Kill it: an agent may go on for long with a turn that nobody reads."""
    with suppress(ProcessLookupError):
        process.send_signal(SIGKILL)
    await process.wait()
