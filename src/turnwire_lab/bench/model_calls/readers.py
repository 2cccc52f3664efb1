"""Who reads the answers of a model, and how each is started."""

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from turnwire_lab.bench import machine
from turnwire_lab.bench.programs import Program
from turnwire_lab.process import HOST, inherited

RUNTIME: Final = "turnwire-agent"
OPENAI: Final = "openai"
PYDANTIC_AI: Final = "pydantic-ai"
OPENAI_AGENTS: Final = "openai-agents"
LITELLM: Final = "litellm"

_READING: Final = Path(__file__).parents[1] / "peers" / "models" / "reading.py"
_ENVIRONMENTS: Final = Path(sys.prefix) / "bench"
"""Where `make bench-models` installs the peers: their pins collide with ours."""


class _Reader(Struct, frozen=True, kw_only=True):
    module: str
    """Beside `_READING`."""
    imports: Sequence[str]
    """What a program that calls a model imports."""
    environment: str = ""
    """Of a peer; empty: ours."""
    environ: Mapping[str, str] = {}

    @property
    def python(self) -> Path:
        if self.environment:
            return _ENVIRONMENTS / self.environment / "bin" / "python"
        return Path(sys.executable)


_READERS: Final[Mapping[str, _Reader]] = {
    RUNTIME: _Reader(
        module="by_turnwire_agent",
        imports=("turnwire_agent", "turnwire_agent.llm.call.stream"),
    ),
    OPENAI: _Reader(module="by_openai", imports=("openai",), environment=PYDANTIC_AI),
    PYDANTIC_AI: _Reader(
        module="by_pydantic_ai",
        imports=("pydantic_ai.models.openai",),
        environment=PYDANTIC_AI,
    ),
    OPENAI_AGENTS: _Reader(
        module="by_openai_agents", imports=("agents",), environment=OPENAI_AGENTS
    ),
    LITELLM: _Reader(
        module="by_litellm",
        imports=("litellm",),
        environment=LITELLM,
        # Else it asks a host for prices when it is imported.
        environ={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    ),
}


def missing(name: str) -> str | None:
    """Why a reader cannot be started here; None: it can."""
    reader = _READERS[name]
    if not reader.python.exists():
        return "its environment is not installed (`make bench-models` installs it)"
    if not reader.environment and importlib.util.find_spec("turnwire_agent") is None:
        return "turnwire-agent is not installed"
    return None


def server(port: int, cores: machine.Cores, folder: Path) -> Program:
    """The model's server."""
    command = (sys.executable, "-m", "turnwire_lab.bench.model_calls.server", str(port))
    log = folder / f"model-{port}.log"
    return Program("the model's server", command, on=cores.rig, log=log, port=port)


def program(name: str, port: int, cores: machine.Cores, folder: Path) -> Program:
    """A reader of answers of the model's server at a port."""
    reader = _READERS[name]
    url = f"http://{HOST}:{port}/v1"
    return Program(
        name,
        (str(reader.python), str(_READING), reader.module, url),
        on=cores.gateway,
        log=folder / f"{name}-{port}.log",
        environ=reader.environ,
        talks=True,
    )


def imports(name: str) -> Sequence[str]:
    """The modules that a program imports which calls a model by it."""
    return _READERS[name].imports


def importing(name: str, module: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """A command that says how many seconds an import takes, and its environment."""
    reader = _READERS[name]
    code = (
        "import time; began = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - began)"
    )
    return (str(reader.python), "-c", code), {**inherited(), **reader.environ}
