"""The modes about calls of models: what a chunk of an answer takes, and what an import takes."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from turnwire_lab.bench import machine
from turnwire_lab.bench.farm import Reading, Spent, between, quietest
from turnwire_lab.bench.model_calls import readers
from turnwire_lab.bench.model_calls.answers import CHAT, MESSAGES, RESPONSES, Plan
from turnwire_lab.bench.model_calls.readers import (
    LITELLM,
    OPENAI,
    OPENAI_AGENTS,
    PYDANTIC_AI,
    RUNTIME,
)
from turnwire_lab.bench.model_calls.stand import Stand
from turnwire_lab.bench.rounds import Round
from turnwire_lab.bench.run import Mode, Run

_NAMES: Final = (RUNTIME, OPENAI, PYDANTIC_AI, OPENAI_AGENTS, LITELLM)
_CHUNKS_PER_S: Final = 5_000
"""The length of an answer, by that of a round: the same for all."""
_GAP_US: Final = 500
"""Longer than a chunk takes that comes alone."""
_IMPORT_S: Final = 60.0
_PATIENCE_S: Final = 40.0
"""From the beginning of a mode on, after which no round is repeated: some take seconds."""
_PEERS_ROUNDS: Final = 3
"""Of imports that take seconds."""


def chunks(run: Run) -> None:
    """Answers as fast as they go, five chunks a write, and a chunk at a time."""
    plan = Plan(chunks=max(20, int(_CHUNKS_PER_S * run.effort.seconds)))
    alone = Plan(chunks=plan.chunks // 2, together=1, gap_us=_GAP_US)
    peers = {CHAT: (CHAT, plan)}
    ours = {**peers, MESSAGES: (MESSAGES, plan), RESPONSES: (RESPONSES, plan)}
    ours |= {"alone": (CHAT, alone)}
    with Stand(run, _there(run)) as stand:
        until = _until(run)
        loads = {
            (name, case): (wire, each, _times(run, stand, name, wire, each))
            for name in stand.names
            for case, (wire, each) in (ours if name == RUNTIME else peers).items()
        }
        for number, chosen in run.order(stand):
            for (name, case), load in loads.items():
                if name == chosen:
                    measure = partial(_round, stand, until, case, number, name, *load)
                    run.add("chunks", case, number, name, measure)


def imports(run: Run) -> None:
    """The import of what calls a model, each time in a new interpreter."""
    found = [(name, module) for name in _there(run) for module in readers.imports(name)]
    for name, module in found:
        _seconds(run, name, module)  # or the first round would compile them
    until = _until(run)
    for number in range(run.effort.rounds):
        for name, module in found:
            if name != RUNTIME and number >= _PEERS_ROUNDS:
                continue
            run.add(
                "imports", module, number, name, partial(_import, run, until, number, name, module)
            )


def _there(run: Run) -> Sequence[str]:
    return [name for name in _NAMES if run.is_there(name, readers.missing)]


def _times(run: Run, stand: Stand, name: str, wire: str, plan: Plan) -> int:
    """How many answers take about as long as a round is to be."""
    began = time.monotonic()
    stand.read(name, wire, plan)
    return max(1, round(run.effort.seconds / (time.monotonic() - began)))


def _until(run: Run) -> float:
    return min(run.until, time.monotonic() + _PATIENCE_S)


def _round(
    stand: Stand,
    until: float,
    case: str,
    number: int,
    name: str,
    wire: str,
    plan: Plan,
    times: int,
) -> Round:
    fault, spent = quietest(lambda: stand.measure(name, wire, plan, times), until)
    return Round(
        mode="chunks",
        case=case,
        contender=name,
        number=number,
        figures={"us_per_chunk": spent.gateway_s * 1e6 / (times * plan.chunks)},
        foreign=spent.foreign,
        void=fault,
    )


def _import(run: Run, until: float, number: int, name: str, module: str) -> Round:
    seconds, spent = quietest(lambda: _seconds(run, name, module), until)
    return Round(
        mode="imports",
        case=module,
        contender=name,
        number=number,
        figures={"seconds": seconds},
        foreign=spent.foreign,
    )


def _seconds(run: Run, name: str, module: str) -> tuple[float, Spent]:
    command, environ = readers.importing(name, module)
    before = _reading()
    with machine.pinned(run.cores.gateway):
        ran = subprocess.run(  # noqa: S603 (the rig names the program)
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_IMPORT_S,
            check=True,
        )
    return float(ran.stdout.split()[-1]), between(before, _reading(), run.cores)


def _reading() -> Reading:
    """The interpreters that ended are all that the core of a gateway had to do."""
    times = os.times()
    return Reading(
        at_s=time.monotonic(),
        gateway_s=times.children_user + times.children_system,
        rig_s=time.process_time(),
        busy_s=machine.busy_s(),
        deltas=0,
    )


MODEL_CALL_MODES: Final[Mapping[str, Mode]] = {"chunks": chunks, "imports": imports}
