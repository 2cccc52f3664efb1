"""`turnwire-agent serve` under measure."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from turnwire_lab.bench import machine
from turnwire_lab.bench.programs import START_S, Program, wait_for
from turnwire_lab.bench.run import Run
from turnwire_lab.process import HOST, free_port

ASKING: Final = "turnwire_lab.bench.agent_loop.asking:agent"
"""An agent whose tool waits for a person."""


def serving(
    run: Run, model_port: int, journal: str, *options: str, agent: str | None = None
) -> Program:
    """A runtime before a model's server; `started` waits until it serves."""
    port = free_port()
    command: Sequence[str] = (
        *(sys.executable, "-m", "turnwire_agent", "serve", *((agent,) if agent else ())),
        *("--model", "local:large", "--shape", "chat"),
        *("--base-url", f"http://{HOST}:{model_port}/v1"),
        *("--journal", journal, "--listen", f"{HOST}:{port}", *options),
    )
    log = run.folder / f"turnwire-agent-{port}.log"
    return Program("turnwire-agent", command, on=run.cores.gateway, log=log, port=port)


def started(program: Program) -> Program:
    wait_for(program.listens, START_S, program.name)
    return program


def cpu_s(program: Program) -> float:
    return machine.cpu_s(program.pid)


def fresh(folder: Path, name: str) -> str:
    """The address of a journal in SQLite that is not there yet."""
    path = folder / f"{name}-{free_port()}.db"
    return f"sqlite:{path}"
