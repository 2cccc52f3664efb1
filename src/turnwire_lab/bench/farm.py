"""The agent and the contenders of one mode, started together, and loads put on them one by one."""

import http.client
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from turnwire_lab.bench import machine
from turnwire_lab.bench.contenders import Contender, contender, new_setting, token
from turnwire_lab.bench.load import Found, Load, Plan, found
from turnwire_lab.bench.programs import START_S, NotStartedError, Program, wait_for
from turnwire_lab.bench.tools import Tools
from turnwire_lab.process import HOST, free_port

DISTURBED: Final = 0.08
"""Share of a core that others may take during a round."""
TRIES: Final = 3
"""How often a round is run for want of a quiet one; the quietest counts."""
_SLACK_S: Final = 0.03
"""What the kernel's clock of a core, which counts ticks, may be wrong by."""
_MARGIN_S: Final = 20.0
"""On top of a client's own patience."""
_SETTLE_S: Final = 0.3
"""What opening streams leaves to do, is done by then."""
_BEGIN_S: Final = 0.1
"""Left out at both ends of a window, for what all streams do at once there."""


class Stats(Struct, frozen=True):
    """What happened to the agent, and is open at it."""

    sockets: int
    open: int
    held: int
    deltas: int
    turns: int
    lost: int
    aborts: int


class Reading(Struct, frozen=True):
    """All clocks and counters at one time."""

    at_s: float
    gateway_s: float
    rig_s: float
    busy_s: Mapping[int, float]
    deltas: int


class Spent(Struct, frozen=True):
    """What lies between two readings."""

    wall_s: float
    gateway_s: float
    rig_s: float
    deltas: int
    foreign: float
    """Share of a core that others took, of the core where it was more."""


Measured: TypeAlias = tuple[Found, Spent]
Result = TypeVar("Result")


def between(before: Reading, after: Reading, cores: machine.Cores, *, client_s: float = 0) -> Spent:
    """What lies between two readings. `client_s`: what a client took that neither has."""
    wall_s = after.at_s - before.at_s
    gateway_s = after.gateway_s - before.gateway_s
    rig_s = after.rig_s - before.rig_s + client_s
    busy = {core: after.busy_s[core] - before.busy_s[core] for core in after.busy_s}
    if cores.are_apart:
        foreign = max(
            sum(busy[core] for core in cores.gateway) - gateway_s,
            sum(busy[core] for core in cores.rig) - rig_s,
        )
    else:
        foreign = sum(busy.values()) - gateway_s - rig_s
    return Spent(
        wall_s=wall_s,
        gateway_s=gateway_s,
        rig_s=rig_s,
        deltas=after.deltas - before.deltas,
        foreign=max(0.0, foreign - _SLACK_S) / max(wall_s, 0.2),
    )


def quietest(measure: Callable[[], tuple[Result, Spent]], until: float) -> tuple[Result, Spent]:
    """Measure, and again while others disturb it, unless it is later than `until`."""
    best = measure()
    for _ in range(TRIES - 1):
        if best[1].foreign < DISTURBED or time.monotonic() > until:
            break
        best = min(best, measure(), key=lambda measured: measured[1].foreign)
    return best


class Client:
    """A client at work."""

    def __init__(self, process: subprocess.Popen[bytes], patience_s: float) -> None:
        self._process = process
        self._patience_s = patience_s

    @property
    def pid(self) -> int:
        return self._process.pid

    def deltas(self) -> int:
        """How many it has now.

        Raises:
            NotStartedError: it is over already.

        """
        self._process.send_signal(signal.SIGUSR1)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.strip().isdigit():
            raise NotStartedError("the client ended too early")
        return int(line)

    def found(self) -> Found:
        """Wait for its end."""
        out, err = self._process.communicate(timeout=self._patience_s)
        if self._process.returncode:
            raise subprocess.CalledProcessError(self._process.returncode, "client", out, err)
        return found(out)

    def kill(self) -> None:
        """End it, if it has not ended: all its connections break."""
        assert self._process.stdout is not None
        if not self._process.stdout.closed:
            self._process.kill()
            self._process.communicate()


class Farm:
    """`with Farm(tools, names, folder) as farm:` has them ready and warmed up."""

    def __init__(
        self, tools: Tools, names: Iterable[str], folder: Path, cores: machine.Cores | None = None
    ) -> None:
        self._tools = tools
        self._cores = cores or machine.cores()
        self._folder = folder
        self._setting = new_setting(free_port(), folder)
        self._token = token(self._setting)
        self._contenders = {name: contender(name, self._setting) for name in names}
        self._needed = [need.name for each in self._contenders.values() for need in each.needs]
        self._programs: dict[str, Program] = {}

    @property
    def names(self) -> Sequence[str]:
        return list(self._contenders)

    @property
    def agent_port(self) -> int:
        return self._setting.agent_port

    @property
    def token(self) -> str:
        """Good for every session."""
        return self._token

    def contender(self, name: str) -> Contender:
        """How it was started."""
        return self._contenders[name]

    def program(self, name: str) -> Program:
        """A contender's, or the agent's where there is none."""
        return self._programs.get(name) or self._programs[""]

    def run(self, name: str, load: Load) -> Measured:
        """Put a load on a contender, to its end."""
        before = self.read(name)
        result = self.start(name, load).found()
        return result, self.spent(before, self.read(name), client_s=result.cpu_s)

    def run_held(self, name: str, load: Load, window_s: float) -> Measured:
        """The same for turns that are held: what counts begins when all are open and go on."""
        client = self.start(name, load)
        try:
            self.all_held(load.streams, load.patience_s)
            time.sleep(_SETTLE_S)
            self.go()
            time.sleep(_BEGIN_S)
            before = self.read(name, client)
            time.sleep(max(0.0, window_s - 2 * _BEGIN_S))
            spent = self.spent(before, self.read(name, client))
            return client.found(), spent
        finally:
            client.kill()

    def start(self, name: str, load: Load) -> Client:
        """Put a load on a contender, and go on meanwhile."""
        to = self._contenders[name]
        arguments = load.arguments(to.port, to.path, frames=to.passes_frames)
        with machine.pinned(self._cores.rig):
            process = subprocess.Popen(  # noqa: S603 (our own tool)
                [*self._tools.client, *arguments],
                bufsize=0,  # or a line that was read ahead would be lost to `communicate`
                env={**os.environ, "BENCH_TOKEN": self._token},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        return Client(process, load.patience_s + _MARGIN_S)

    def read(self, name: str, client: Client | None = None) -> Reading:
        rig_s = time.process_time()
        rig_s += sum(machine.cpu_s(self._programs[each].pid) for each in ("", *self._needed))
        return Reading(
            at_s=time.monotonic(),
            gateway_s=machine.cpu_s(self.program(name).pid),
            rig_s=rig_s + (machine.cpu_s(client.pid) if client else 0),
            busy_s=machine.busy_s(),
            deltas=client.deltas() if client else 0,
        )

    def spent(self, before: Reading, after: Reading, *, client_s: float = 0) -> Spent:
        return between(before, after, self._cores, client_s=client_s)

    def pss_bytes(self, name: str) -> int:
        return machine.pss_bytes(self.program(name).pid)

    def stats(self) -> Stats:
        return msgspec.json.decode(self._ask("GET", "/stats"), type=Stats)

    def go(self) -> None:
        """Let turns that are held go on."""
        self._ask("POST", "/go")

    def all_held(self, streams: int, within_s: float) -> None:
        """Wait until so many turns wait to go on.

        Raises:
            NotStartedError: they do not, in time.

        """
        wait_for(lambda: self.stats().held >= streams, within_s, f"{streams} open streams")

    def _ask(self, method: str, path: str) -> bytes:
        connection = http.client.HTTPConnection(HOST, self._setting.agent_port, timeout=START_S)
        try:
            connection.request(method, path)
            return connection.getresponse().read()
        finally:
            connection.close()

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        with ExitStack() as stack:
            agent = Contender(
                name="",
                port=self._setting.agent_port,
                command=(*self._tools.agent, str(self._setting.agent_port)),
            )
            needed = [need for each in self._contenders.values() for need in each.needs]
            for each in (agent, *needed, *self._contenders.values()):
                if each.command:
                    on = self._cores.gateway if each.name in self._contenders else self._cores.rig
                    log = self._folder / f"{each.name or 'agent'}-{each.port}.log"
                    program = Program(
                        each.name or "the agent",
                        each.command,
                        on=on,
                        log=log,
                        environ=each.environ,
                        port=each.port,
                        runs_last=each.runs_last,
                        talks=each.talks,
                    )
                    self._programs[each.name] = stack.enter_context(program)
            for program in self._programs.values():
                wait_for(program.listens, START_S, program.name)
            self._warm_up()
            self._stack = stack.pop_all()
        return self

    def _warm_up(self) -> None:
        load = Load(plan=Plan(deltas=200), streams=4, total=40)
        for name in self._contenders:
            self.start(name, load).found()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()
