"""`turnwire-agent serve` as a child process: killed by its id, and started again at once.

Its journal is in a folder that stays, so a turn that runs when the process dies goes on in the
next one.
"""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Final

from turnwire_agent.llm.providers import PROVIDERS
from turnwire_lab.agents.frameworks.agent import AgentDown, FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import LOCAL_MODEL
from turnwire_lab.process import HOST, free_port, inherited
from turnwire_lab.runtime.steered import SteeredModel
from turnwire_lab.service import Service

LOCAL: Final = "local"
"""The small model on this machine, instead of PROVIDER:MODEL."""
LOCAL_TITLE: Final = "SmolLM2 on this machine"
SERVED: Final = "turnwire_lab.runtime.served:AGENT"
START_S: Final = 60.0
END_S: Final = 10.0
DEATHS_MAX: Final = 5
"""After so many deaths in a row before it listened, it is not started again."""
REST_S: Final = 0.5
"""Before the next start of one that died before it listened."""


def state_folder() -> Path:
    """Where sessions stay from one demo to the next."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "turnwire-lab"


class RuntimeAgent(Service):
    """`async with RuntimeAgent("anthropic:…", folder=…) as agent:` serves sessions at `agent.url`.

    `base_url` is another server than the provider's. `tell` gets a line when the process was
    killed, and when the next one listens.

    Raises:
        AgentDown: there is no key, or it does not start.
        OSError: another process has the port.

    """

    def __init__(
        self,
        model: str,
        *,
        folder: Path,
        port: int = 0,
        base_url: str | None = None,
        log: int | None = None,
    ) -> None:
        self.title = LOCAL_TITLE if model == LOCAL else model
        self.port = port
        self.tell: Callable[[str], None] = lambda _: None
        self.deaths = 0
        self._model = model
        self._folder = folder
        self._base_url = base_url
        self._log = log
        self._process: Process

    @property
    def url(self) -> str:
        """The gateway's template: a session id goes where the braces are."""
        return f"ws://{HOST}:{self.port}/api/sessions/{{session_id}}/ws?role=client"

    @property
    def pid(self) -> int:
        """That of the process that runs now."""
        return self._process.pid

    def kill(self) -> None:
        """Kill the process, in the middle of whatever it does. The next one starts at once."""
        self.tell(f"the agent's process {self.pid} is killed")
        with suppress(ProcessLookupError):
            self._process.send_signal(SIGKILL)

    async def _start(self, stack: AsyncExitStack) -> None:
        model, base_url = self._model, self._base_url
        if model == LOCAL:
            weights = await stack.enter_async_context(FrameworkAgent(LOCAL_MODEL))
            steered = await stack.enter_async_context(SteeredModel(weights.url))
            model, base_url = "llama-cpp:smollm2", steered.url
        elif base_url is None:
            _check_key(model)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.port = free_port(self.port)
        where = () if base_url is None else ("--base-url", base_url)
        self._command = (
            # Without the folder among the places of modules: a note must not become one.
            *(sys.executable, "-P", "-m", "turnwire_agent", "serve", SERVED),
            *("--model", model, *where, "--listen", f"{HOST}:{self.port}"),
        )
        await self._launch()
        stack.push_async_callback(self._end)
        if not await self._listens():
            status = await self._process.wait()
            raise AgentDown(f"turnwire-agent serve ended at once (exit {status}).")
        supervising = asyncio.create_task(self._supervise())
        stack.push_async_callback(_ended, supervising)

    async def _launch(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            cwd=self._folder,
            env=inherited(),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=self._log,
            # Its own group: Ctrl-C is the demo's to pass on.
            start_new_session=True,
        )

    async def _listens(self) -> bool:
        """Whether the process came to the point where it serves."""
        assert self._process.stdout is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(START_S):
                return (await self._process.stdout.readline()).startswith(b"serves ")
        with suppress(ProcessLookupError):
            self._process.send_signal(SIGKILL)
        return False

    async def _supervise(self) -> None:
        """Start it anew at once whenever it dies, as a supervisor would."""
        in_vain = 0
        while True:
            await self._process.wait()
            self.deaths += 1
            if in_vain >= DEATHS_MAX:
                self.tell("the agent's process does not start any more")
                return
            await self._launch()
            if await self._listens():
                self.tell(f"the agent's process {self.pid} goes on")
                in_vain = 0
            else:
                in_vain += 1
                await asyncio.sleep(REST_S)

    async def _end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(SIGTERM)
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.send_signal(SIGKILL)
            await self._process.wait()


def _check_key(model: str) -> None:
    """Say what is missing before anything starts. What else does not fit, the runtime says.

    Raises:
        AgentDown: the provider's key is not in the environment.

    """
    provider = PROVIDERS.get(model.partition(":")[0])
    variable = "" if provider is None else provider.key_variable
    if variable and not os.environ.get(variable):
        raise AgentDown(f"{model} needs a key: set {variable} in the environment.")


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})
