"""The modes about turns of the agent runtime: a chunk from the model's server to the socket."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import Final, Self

from turnwire_lab.bench import machine
from turnwire_lab.bench.agent_loop import loads
from turnwire_lab.bench.agent_loop.cases import MEMORY, PER_S, SQLITE, TURNS, turns_case
from turnwire_lab.bench.agent_loop.provider import Answer
from turnwire_lab.bench.agent_loop.serving import fresh, serving, started
from turnwire_lab.bench.farm import Reading, Spent, between, quietest
from turnwire_lab.bench.model_calls import readers
from turnwire_lab.bench.model_calls.answers import CHAT, Plan
from turnwire_lab.bench.model_calls.readers import LITELLM, OPENAI_AGENTS, PYDANTIC_AI
from turnwire_lab.bench.model_calls.stand import Stand
from turnwire_lab.bench.programs import Program
from turnwire_lab.bench.rounds import Round
from turnwire_lab.bench.run import Mode, Run
from turnwire_lab.process import free_port

_BURST_PER_S: Final = 50_000
"""The length of an answer that comes as fast as it can, by that of a round."""
_TOGETHER: Final = 5
_PACED_S: Final = 3
"""How many times as long as a burst."""
_WARM: Final = Answer(chunks=500, together=_TOGETHER, held=True)
_READ_PER_S: Final = 2_500
_PATIENCE_S: Final = 20.0
"""From the beginning of a mode on, after which no round is repeated."""


def burst(run: Run) -> None:
    """One turn, whose chunks come as fast as they go, five in a write."""
    count = max(50, int(_BURST_PER_S * run.effort.seconds) // _TOGETHER * _TOGETHER)
    answer = Answer(chunks=count, together=_TOGETHER, held=True)
    with _Runtimes(run) as there:
        for number in range(run.effort.rounds):
            for name in there.programs:
                measure = partial(there.round, "agent-loop", "burst", number, name, answer, 1)
                run.add("agent-loop", "burst", number, name, measure)
    peers = (PYDANTIC_AI, OPENAI_AGENTS, LITELLM)
    names = [each for each in peers if run.is_there(each, readers.missing)]
    plan = Plan(chunks=max(20, int(_READ_PER_S * run.effort.seconds)))
    with Stand(run, names) as stand:
        until = _until(run)
        for number, name in run.order(stand):
            run.add(
                "agent-loop",
                "burst",
                number,
                name,
                partial(_read, stand, until, number, plan, name),
            )


def turns(run: Run) -> None:
    """Many turns at once, each with the pace of a model."""
    count = min(TURNS, run.effort.most_streams)
    chunks = max(5, int(PER_S * _PACED_S * run.effort.seconds))
    answer = Answer(chunks=chunks, gap_s=1 / PER_S, held=True)
    case = turns_case(count)
    with _Runtimes(run) as there:
        for number in range(run.effort.rounds):
            for name in there.programs:
                measure = partial(there.round, "agent-turns", case, number, name, answer, count)
                run.add("agent-turns", case, number, name, measure)


class _Runtimes:
    """A runtime with each journal, all of them warm."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._model_port = free_port()
        self._sessions = 0
        self._until = _until(run)
        journals = {MEMORY: MEMORY, SQLITE: fresh(run.folder, "loop")}
        self.programs: Mapping[str, Program] = {
            name: serving(run, self._model_port, journal) for name, journal in journals.items()
        }
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for each in self.programs.values():
                stack.enter_context(each)
                started(each)
            for each in self.programs.values():
                self._turns(each, _WARM, 1)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def round(
        self, mode: str, case: str, number: int, name: str, answer: Answer, count: int
    ) -> Round:
        """One load on one of them. With a pace, what a chunk is late, too."""
        paced = answer.gap_s > 0
        hop = loads.run(loads.direct(self._model_port, count, answer)) if paced else ()
        chunks, spent = quietest(
            lambda: self._turns(self.programs[name], answer, count), self._until
        )
        figures = {
            "us_per_chunk": spent.gateway_s * 1e6 / (answer.chunks * count),
            "gateway_share": spent.gateway_s / spent.wall_s,
            "rig_share": spent.rig_s / spent.wall_s,
        }
        for point, share in (("p50", 0.5), ("p99", 0.99)):
            if paced:
                late_ms = loads.quantile_ms(chunks.ages_us, share)
                figures[f"added_{point}_ms"] = late_ms - loads.quantile_ms(hop, share)
        return Round(
            mode=mode,
            case=case,
            contender=name,
            number=number,
            figures=figures,
            foreign=spent.foreign,
            void=None if len(chunks.ages_us) == answer.chunks * count else "another text",
        )

    def _turns(self, program: Program, answer: Answer, count: int) -> tuple[loads.Chunks, Spent]:
        self._sessions += 1
        sessions = [f"turn-{self._sessions}-{each}" for each in range(count)]
        chunks = loads.run(
            loads.turns(program.port, self._model_port, sessions, answer, partial(reading, program))
        )
        return chunks, between(chunks.before, chunks.after, self._run.cores)


def reading(program: Program) -> Reading:
    """What a runtime took so far, and this process, which is all of the rig."""
    return Reading(
        at_s=time.monotonic(),
        gateway_s=machine.cpu_s(program.pid),
        rig_s=time.process_time(),
        busy_s=machine.busy_s(),
        deltas=0,
    )


def _until(run: Run) -> float:
    return min(run.until, time.monotonic() + _PATIENCE_S)


def _read(stand: Stand, until: float, number: int, plan: Plan, name: str) -> Round:
    fault, spent = quietest(lambda: stand.measure(name, CHAT, plan, 1), until)
    return Round(
        mode="agent-loop",
        case="burst",
        contender=name,
        number=number,
        figures={"us_per_chunk": spent.gateway_s * 1e6 / plan.chunks},
        foreign=spent.foreign,
        void=fault,
    )


AGENT_LOOP_MODES: Final[Mapping[str, Mode]] = {"agent-loop": burst, "agent-turns": turns}
