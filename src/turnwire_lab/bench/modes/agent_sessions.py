"""The modes about sessions of the agent runtime: what they hold, and how fast they are there."""

import asyncio
import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final

from turnwire_lab.bench import machine
from turnwire_lab.bench.agent_loop import loads
from turnwire_lab.bench.agent_loop.cases import (
    FOLLOWED,
    IDLE,
    KILLED,
    PARKED,
    PER_S,
    RUNNING,
    SESSIONS,
    sessions_case,
)
from turnwire_lab.bench.agent_loop.filled import fill, session_id
from turnwire_lab.bench.agent_loop.provider import Answer, Provider
from turnwire_lab.bench.agent_loop.serving import ASKING, fresh, serving, started
from turnwire_lab.bench.agent_loop.session_socket import SessionSocket
from turnwire_lab.bench.model_calls.readers import RUNTIME
from turnwire_lab.bench.programs import Program
from turnwire_lab.bench.rounds import Round
from turnwire_lab.bench.run import Mode, Run
from turnwire_lab.process import free_port

_KIB: Final = 1024
_WARM: Final = 200
"""Most turns before the first that counts: what is made once, is made; SQLite's cache is full."""
_OPENED: Final = 20
_FOLLOWED: Final = 100
_MESSAGES: Final = 100
_LEASE_S: Final = 2.0
_ROUNDS: Final = 3
"""Of what takes seconds."""


def memory(run: Run) -> None:
    """What a process has more of for each turn that runs, that waits for a person, that is over."""
    count = max(5, run.effort.streams_of_memory // 5)
    for number in range(min(_ROUNDS, run.effort.rounds)):
        for case in (RUNNING, PARKED, IDLE):
            measure = partial(_held, run, case, number, count)
            run.add("agent-memory", case, number, RUNTIME, measure)


def opening(run: Run) -> None:
    """One session among many, and a turn whose process was killed."""
    sessions = min(SESSIONS, run.effort.most_streams)
    journal = fresh(run.folder, "many")
    fill(Path(journal.removeprefix("sqlite:")), sessions, _MESSAGES)
    case = sessions_case(sessions)
    with serving(run, free_port(), journal) as program:
        started(program)
        for number in range(run.effort.rounds):
            measure = partial(_opened, case, number, program, sessions)
            run.add("agent-open", case, number, RUNTIME, measure)
    for number in range(min(_ROUNDS, run.effort.rounds)):
        for case, measured in ((FOLLOWED, _followed), (KILLED, _recovered)):
            run.add("agent-open", case, number, RUNTIME, partial(measured, run, number))


def _held(run: Run, case: str, number: int, count: int) -> Round:
    model_port = free_port()
    journal = fresh(run.folder, case)
    agent = ASKING if case == PARKED else None
    with serving(run, model_port, journal, agent=agent) as program:
        started(program)
        held = loads.run(_growth_bytes(program, model_port, case, count))
    return Round(
        mode="agent-memory",
        case=case,
        contender=RUNTIME,
        number=number,
        figures={"kb_per_turn": held / _KIB / count},
    )


async def _growth_bytes(program: Program, model_port: int, case: str, count: int) -> int:
    """How much more memory the process has with so many more turns."""
    answer = Answer(chunks=20, held=case == RUNNING, calls=case == PARKED)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(Provider(model_port, answer))
        before = 0
        warm = min(_WARM, count)
        for number in range(warm + count):
            if number == warm:
                await asyncio.sleep(loads.SETTLED_S)
                before = machine.private_bytes(program.pid)
            socket = await SessionSocket.open(program.port, f"held-{number}")
            stack.callback(socket.close)
            socket.ask()
            if case == RUNNING:
                await socket.chunks(1)
            else:
                await socket.until("question" if case == PARKED else "complete")
                socket.close()
        await asyncio.sleep(2 * loads.SETTLED_S)
        return machine.private_bytes(program.pid) - before


def _opened(case: str, number: int, program: Program, sessions: int) -> Round:
    seconds = sorted(
        loads.run(_open(program.port, session_id((number * _OPENED + each) * 7919 % sessions)))
        for each in range(_OPENED)
    )
    return Round(
        mode="agent-open",
        case=case,
        contender=RUNTIME,
        number=number,
        figures={"median_ms": seconds[_OPENED // 2] * 1e3, "worst_ms": seconds[-1] * 1e3},
    )


async def _open(port: int, session: str) -> float:
    """Seconds from the first byte to the whole of `init`."""
    began = time.monotonic()
    socket = await SessionSocket.open(port, session)
    seconds = time.monotonic() - began
    socket.close()
    return seconds


def _followed(run: Run, number: int) -> Round:
    """How old chunks are for whoever follows the session at another process."""
    model_port, journal = free_port(), fresh(run.folder, "followed")
    with serving(run, model_port, journal) as one, serving(run, model_port, journal) as other:
        started(one)
        started(other)
        ages_us = loads.run(_at_another(model_port, one, other))
    return Round(
        mode="agent-open",
        case=FOLLOWED,
        contender=RUNTIME,
        number=number,
        figures={"worst_ms": max(ages_us) / 1e3, "chunks": len(ages_us)},
    )


async def _at_another(model_port: int, one: Program, other: Program) -> Sequence[int]:
    answer = Answer(chunks=_FOLLOWED, gap_s=1 / PER_S, held=True)
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(Provider(model_port, answer))
        follower = await SessionSocket.open(other.port, "followed")
        stack.callback(follower.close)
        (socket,) = await loads.asked(one.port, ["followed"], stack)
        await follower.chunks(1)
        follower.ages_us.clear()
        provider.go.set()
        await follower.chunks(_FOLLOWED)
        provider.end.set()
        await socket.until("complete")
        return follower.ages_us


def _recovered(run: Run, number: int) -> Round:
    model_port, journal = free_port(), fresh(run.folder, "killed")
    lease = ("--host-lease-s", f"{_LEASE_S:g}")
    with serving(run, model_port, journal, *lease) as one:
        started(one)
        seconds = loads.run(_killed(run, model_port, journal, lease, one))
    return Round(
        mode="agent-open",
        case=KILLED,
        contender=RUNTIME,
        number=number,
        figures={"s_after_lease": seconds - _LEASE_S},
    )


async def _killed(
    run: Run, model_port: int, journal: str, lease: tuple[str, str], one: Program
) -> float:
    """Another process is asked for the session of a turn, and told that its process died."""
    with serving(run, model_port, journal, *lease) as other:
        started(other)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(Provider(model_port, Answer(held=True)))
            (socket,) = await loads.asked(one.port, ["killed"], stack)
            await socket.chunks(1)
            follower = await SessionSocket.open(other.port, "killed")
            stack.callback(follower.close)
            began = time.monotonic()
            os.kill(one.pid, signal.SIGKILL)
            await follower.until("retract")
            await follower.chunks(1)
            return time.monotonic() - began


AGENT_SESSION_MODES: Final[Mapping[str, Mode]] = {"agent-memory": memory, "agent-open": opening}
