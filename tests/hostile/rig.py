"""One gateway, a crowd of the well-behaved, and an attack beside them: one row of the matrix."""

import asyncio
import contextlib
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from gateway.clients import ask
from gateway.process import environ
from gateway.tokens import token
from hostile.agent import Attacker, HostileAgent
from hostile.attack import V2, AgentAttack, Attack, ClientAttack, Script, Wire
from hostile.machine import Memory, Processor, prefer
from hostile.measured import Measured, mib, percentile, who
from hostile.newcomers import Newcomers
from hostile.plane import SlowPlane
from hostile.victims import USER, Crowd, Victims
from hostile.world import World
from turnwire_lab.bench import machine
from turnwire_lab.bench.load import Found
from turnwire_lab.bench.programs import START_S, Program, wait_for
from turnwire_lab.bench.tools import Tools
from turnwire_lab.process import HOST, free_port

T = TypeVar("T")

LEAD_S: Final = 0.5
"""What is measured before an attack begins."""
AGAIN_S: Final = 1.0
"""A hostile stream that ended is opened again after that."""
BELOW: Final = 10
"""By how much an attacker is nicer than all others: what they wait for it is none of its harm."""
_SAMPLE_S: Final = 0.05
_ANSWERED: Final = {"questionId": "q1", "state": "answered", "answer": "yes"}
ANSWER: Final = {
    "id": "chat-1",
    "messages": [
        {
            "id": "m1",
            "role": "assistant",
            "parts": [{"type": "data-question", "id": "q1", "data": _ANSWERED}],
        }
    ],
}
"""What `useChat` sends when its user answered `q1`."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    streams: int = 100
    client_s: float = 6.0
    """Of a hostile client."""
    agent_s: float = 4.0
    """Of a hostile agent."""
    short_s: float = 2.5
    """Of one whose stream is to end."""


class Rig:
    """`async with Rig(tools, folder, effort) as rig:` has the agents of all rows."""

    def __init__(self, tools: Tools, folder: Path, effort: Effort, *, nice: int = 0) -> None:
        self._nice = nice
        self._tools = tools
        self._folder = folder
        self._effort = effort
        self._agent_port = free_port()
        self._count = 0

    async def measure(self, attack: Attack | None, wire: Wire = V2) -> Measured:
        """One row. Without an attack, of what the rig itself costs."""
        wire = attack.wire if attack else wire
        seconds = self._seconds(attack)
        attacker = Attacker(attack) if isinstance(attack, AgentAttack) else None
        async with self._gateway(attack, wire) as (gateway, bearer):
            await self._hostile.play(_script(attack, attacker))
            await self._warm_up(gateway.port, bearer)
            crowd = Crowd(streams=self._effort.streams, seconds=seconds + LEAD_S)
            async with (
                self._victims(crowd, gateway.port, bearer) as victims,
                Newcomers(gateway.port, bearer, seconds) as newcomers,
            ):
                for pid in (victims.pid, newcomers.pid):
                    self._prefer(pid)
                return await self._row(attack, wire, attacker, gateway, victims, newcomers)

    async def _row(
        self,
        attack: Attack | None,
        wire: Wire,
        attacker: Attacker | None,
        gateway: Program,
        victims: Victims,
        newcomers: Newcomers,
    ) -> Measured:
        seconds = self._seconds(attack)
        memory = Memory(gateway.pid)
        memory.start()
        world = World(gateway.port, bearer=secrets.token_hex(16) if _is_opaque(attack) else None)
        processor = Processor(gateway.pid)
        victims.go()
        async with going(_watch(memory)), going(victims.found()) as finding:
            await asyncio.sleep(LEAD_S)
            async with going(newcomers.come()) as coming:
                async with going(_attack(attack, world)):
                    await asyncio.sleep(seconds)
                    used, waited = processor.cores()
                    now = asyncio.get_running_loop().time()
                    streams = [] if attacker is None else attacker.streams
                    lasted = [one.lasted_s(now) for one in streams if one.since is not None]
                    written = sum(one.line.written for one in streams)
                await self._hostile.play(None)
                answers = await coming
            found = await finding
        latency = found.latency_us
        return Measured(
            who=who(attack),
            name=attack.name if attack else "no attack",
            wire=wire,
            p99=(latency.p99 if latency else 0) / 1e3,
            most=(latency.most if latency else 0) / 1e3,
            streams=self._effort.streams,
            not_whole=_not_whole(found),
            first_byte=1e3 * percentile(answers.first_byte_s, 0.95),
            first_byte_most=1e3 * max(answers.first_byte_s, default=0.0),
            refused=len(answers.refused),
            growth_mib=mib(memory.growth),
            ended_s=max(lasted, default=None),
            ends_within_s=attack.ends_within_s if isinstance(attack, AgentAttack) else None,
            written_mib=mib(written),
            read_mib=mib(world.read_bytes),
            statuses=dict(world.statuses),
            gateway_cores=used,
            waited_cores=waited,
        )

    def _seconds(self, attack: Attack | None) -> float:
        match attack:
            case AgentAttack(ends_within_s=None):
                return self._effort.agent_s
            case AgentAttack(ends_within_s=within_s) if within_s is not None:
                return max(self._effort.short_s, within_s + 0.5)
            case _:
                return self._effort.client_s

    @asynccontextmanager
    async def _gateway(
        self, attack: Attack | None, wire: Wire
    ) -> AsyncIterator[tuple[Program, str]]:
        """A gateway of its own for each row, and a token for it."""
        settings: dict[str, object] = {
            "port": free_port(),
            "dialect": wire,
            # All of the well-behaved are one user here.
            "max_streams_per_user": self._effort.streams + 20 + 50,
            **(attack.settings if attack else {}),
        }
        async with contextlib.AsyncExitStack() as stack:
            bearer = token(USER)
            if _is_opaque(attack):
                plane = await stack.enter_async_context(SlowPlane())
                self._prefer(plane.pid)
                settings |= plane.settings
                bearer = plane.token
            yield stack.enter_context(self._serving(wire, settings)), bearer

    @contextlib.contextmanager
    def _serving(self, wire: Wire, settings: dict[str, object]) -> Iterator[Program]:
        self._count += 1
        log = self._folder / f"gateway-{self._count}.log"
        url = f"ws://{HOST}:{self._agent_port}/{wire}/{{session_id}}"
        program = Program(
            "the gateway",
            (sys.executable, "-m", "turnwire", "serve"),
            on=machine.cores().gateway,
            log=log,
            environ=environ(url, **settings),
            port=int(str(settings["port"])),
        )
        with program:
            self._prefer(program.pid)
            wait_for(program.listens, START_S, program.name)
            yield program
            # It may be busy for long with what it was told, and nothing more is asked of it.
            with contextlib.suppress(ProcessLookupError):
                os.kill(program.pid, signal.SIGKILL)

    def _prefer(self, pid: int) -> None:
        """Have it go before whoever attacks, which is this process."""
        if os.geteuid() == 0:
            prefer(pid, self._nice)

    def _victims(self, crowd: Crowd, port: int, bearer: str) -> Victims:
        return Victims(
            self._tools, crowd, gateway_port=port, agent_port=self._agent_port, bearer=bearer
        )

    async def _warm_up(self, port: int, bearer: str) -> None:
        """What is made at the first streams is no growth."""
        async with self._victims(Crowd(streams=40, seconds=0.2), port, bearer) as victims:
            victims.go()
            await victims.found()
        async with Newcomers(port, bearer, 0.2) as newcomers:
            await newcomers.come()

    async def __aenter__(self) -> Self:
        if os.geteuid() == 0:
            prefer(os.getpid(), self._nice + BELOW)
        os.sched_setaffinity(0, machine.cores().rig)
        machine.raise_descriptors()
        door = self._folder / "hostile.sock"
        async with contextlib.AsyncExitStack() as stack:
            self._hostile = await stack.enter_async_context(HostileAgent(door))
            self._agent = stack.enter_context(
                Program(
                    "the agent",
                    (*self._tools.agent, str(self._agent_port), str(door)),
                    on=machine.cores().rig,
                    log=self._folder / "agent.log",
                    port=self._agent_port,
                )
            )
            self._prefer(self._agent.pid)
            wait_for(self._agent.listens, START_S, self._agent.name)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()


@asynccontextmanager
async def going(doing: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """It is done meanwhile, and no longer. What it raised is raised at the end."""
    task = asyncio.create_task(doing)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
    with contextlib.suppress(asyncio.CancelledError):
        task.result()


async def _watch(memory: Memory) -> None:
    while True:
        memory.sample()
        await asyncio.sleep(_SAMPLE_S)


def _script(attack: Attack | None, attacker: Attacker | None) -> Script | None:
    if attacker is not None:
        return attacker.script
    return attack.agent if isinstance(attack, ClientAttack) else None


def _is_opaque(attack: Attack | None) -> bool:
    return isinstance(attack, ClientAttack) and attack.tokens == "opaque"


async def _attack(attack: Attack | None, world: World) -> None:
    match attack:
        case AgentAttack():
            await _ask_again(world, attack)
        case ClientAttack():
            await attack.run(world)
        case None:
            pass


def _asked(world: World, attack: AgentAttack) -> bytes:
    close = {"connection": "close"}
    match attack.door:
        case "chat":
            return world.request(ask(), headers=close)
        case "history":
            return world.request(path="messages", method="GET", headers=close)
        case "resume":
            return world.request(path="chat/chat-1/stream", method="GET", headers=close)
        case "answer":
            return world.request(ANSWER, headers=close)


async def _ask_again(world: World, attack: AgentAttack) -> None:
    """The client of a hostile agent: it asks, reads all, and asks again."""
    prompt = _asked(world, attack)
    while True:
        async with world.connection() as connection:
            await connection.send(prompt)
            await connection.read_all()
        await asyncio.sleep(AGAIN_S)


def _not_whole(found: Found) -> int:
    return found.wrong + found.failed + found.refused + found.missing
