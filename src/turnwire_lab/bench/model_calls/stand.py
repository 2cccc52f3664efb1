"""A model's server and those who read its answers, all of them warm."""

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self, TypeAlias

import msgspec
from msgspec import Struct

from turnwire_lab.bench import machine
from turnwire_lab.bench.farm import Reading, Spent, between
from turnwire_lab.bench.model_calls.answers import CHAT, Plan
from turnwire_lab.bench.model_calls.readers import program, server
from turnwire_lab.bench.programs import START_S, NotStartedError, wait_for
from turnwire_lab.bench.run import Run
from turnwire_lab.process import free_port

PATIENCE_S: Final = 60.0
"""For one answer, and for the imports before the first."""
_WARM: Final = Plan(chunks=300)

Fault: TypeAlias = str | None
"""Why an answer is not whole."""


class _Read(Struct, frozen=True):
    """What a reader tells."""

    pieces: int
    text: str


class Stand:
    """`with Stand(run, names) as stand:` has them started."""

    def __init__(self, run: Run, names: Iterable[str]) -> None:
        self._cores = run.cores
        port = free_port()
        self._server = server(port, run.cores, run.folder)
        self._readers = {name: program(name, port, run.cores, run.folder) for name in names}

    @property
    def names(self) -> Sequence[str]:
        return list(self._readers)

    def read(self, name: str, wire: str, plan: Plan) -> Fault:
        """Let a reader read an answer to its end.

        Raises:
            NotStartedError: It broke, or takes too long.

        """
        line = msgspec.json.encode({"wire": wire, "prompt": plan.words})
        answer = self._readers[name].ask(line, PATIENCE_S)
        try:
            read = msgspec.json.decode(answer, type=_Read)
        except msgspec.DecodeError:
            raise NotStartedError(f"{name} says something else: {answer!r}") from None
        whole = (read.pieces, read.text) == (plan.chunks, plan.text)
        return None if whole else f"{read.pieces} chunks of {plan.chunks}, or another text"

    def measure(self, name: str, wire: str, plan: Plan, times: int) -> tuple[Fault, Spent]:
        """The same so many times. `Spent.gateway_s` is what the reader took."""
        before = self._reading(name)
        faults = [self.read(name, wire, plan) for _ in range(times)]
        spent = between(before, self._reading(name), self._cores)
        return next(filter(None, faults), None), spent

    def _reading(self, name: str) -> Reading:
        return Reading(
            at_s=time.monotonic(),
            gateway_s=machine.cpu_s(self._readers[name].pid),
            rig_s=time.process_time() + machine.cpu_s(self._server.pid),
            busy_s=machine.busy_s(),
            deltas=0,
        )

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        with ExitStack() as stack:
            stack.enter_context(self._server)
            wait_for(self._server.listens, START_S, self._server.name)
            for name, each in self._readers.items():
                stack.enter_context(each)
                self.read(name, CHAT, _WARM)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()
