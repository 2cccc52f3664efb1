"""The modes about agents behind WebSockets: which loads, on whom."""

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from turnwire_lab.bench.contenders import (
    ACP,
    DIRECT,
    FORWARDING,
    HANDWRITTEN,
    HELPER,
    NAIVE,
    NGINX,
    OWN_RELAY,
    SESSION_AGENT,
    TURNWIRE,
    TWO_WORKERS,
)
from turnwire_lab.bench.farm import Farm
from turnwire_lab.bench.load import STEADY, Load, Plan
from turnwire_lab.bench.modes.measuring import (
    MIB,
    RAMP_US,
    as_long_as,
    crowd_of,
    open_streams,
    streams_of,
    turns_of,
)
from turnwire_lab.bench.programs import wait_for
from turnwire_lab.bench.rounds import Round
from turnwire_lab.bench.run import Mode, Run

SHARED_RATE: Final = 4_000
"""Deltas a second that a crowd of any size shares."""
_GONE_S: Final = 15.0
_LONGER: Final = 4
"""Times as long as other rounds: a hundred clients take a tenth of a second for a turn each."""


def burst(run: Run) -> None:
    """The agent sends as fast as it can."""
    quick = run.effort.is_quick
    names = [TURNWIRE, OWN_RELAY, HELPER, HANDWRITTEN, FORWARDING]
    more = [] if quick else [SESSION_AGENT, ACP, NAIVE, NGINX]
    with run.farm(*names, *more) as farm:
        for streams in (1, 100) if quick else (1, 10, 100):
            loads = as_long_as(run, farm, Load(plan=Plan(deltas=0), streams=streams))
            for number, name in run.order(farm):
                run.load(farm, "burst", streams_of(streams), number, name, loads[name])


def paced(run: Run) -> None:
    """Every stream gets 50 deltas a second, as model tokens come."""
    quick = run.effort.is_quick
    names = [TURNWIRE, HELPER, HANDWRITTEN, DIRECT]
    more = [] if quick else [SESSION_AGENT, ACP, FORWARDING, NGINX]
    rate = 50
    with run.farm(*names, *more) as farm:
        for streams in (100,) if quick else (100, 400):
            steps = math.ceil(2 * run.effort.seconds * rate)
            load = Load(plan=Plan(deltas=1 + steps, rate=rate, hold=True), streams=streams)
            case = f"{streams} x {rate}/s"
            for number, name in run.order(farm):
                run.load(farm, "paced", case, number, name, load, window_s=steps / rate)


def short(run: Run) -> None:
    """Turns of five deltas, one behind the other, from 32 clients and from a hundred.

    All begin at once, which is most of what the slowest of so few turns wait for. So the same goes
    on for longer, with clients that begin one after another.
    """
    quick = run.effort.is_quick
    names = [TURNWIRE, HELPER, HANDWRITTEN]
    more = [] if quick else [FORWARDING, NAIVE]
    with run.farm(*names, *more) as farm:
        for clients in (32,) if quick else (32, 100):
            plan = Plan(deltas=5)
            first = run.calibrated(
                farm,
                {name: Load(plan=plan, streams=clients, total=4 * clients) for name in farm.names},
            )
            for number, name in run.order(farm):
                turns_per_s = first[name].streams / first[name].wall_s
                total = max(clients, int(turns_per_s * run.effort.seconds))
                load = Load(plan=plan, streams=clients, total=total)
                run.load(farm, "short", f"{clients} clients", number, name, load)
                if name in more:
                    continue
                longer = max(clients, int(turns_per_s * run.effort.seconds * _LONGER))
                load = Load(
                    plan=plan, streams=clients, total=longer, ramp_us=int(1_000_000 / turns_per_s)
                )
                run.load(farm, "short", f"{clients} {STEADY}", number, name, load)


def length(run: Run) -> None:
    """What a delta costs in turns of any length; as many deltas in all, or one turn."""
    with run.farm(TURNWIRE) as farm:
        for deltas in run.effort.lengths():
            load = turns_of(deltas, run.effort.seconds)
            for number, name in run.order(farm):
                run.load(farm, "length", f"{deltas}", number, name, load)


def streams(run: Run) -> None:
    """What a delta costs among any number of streams that share one rate."""
    _crowds(run, TURNWIRE, run.effort.crowds())
    _crowds(run, TWO_WORKERS, run.effort.crowds_of_workers())


def _crowds(run: Run, contender: str, counts: Sequence[int]) -> None:
    with run.farm(contender) as farm:
        for count in counts:
            load, window_s = crowd_of(count, SHARED_RATE / count, run.effort.seconds)
            for number, name in run.order(farm, min(3, run.effort.rounds)):
                run.load(farm, "streams", f"{count}", number, name, load, window_s=window_s)


def large(run: Run) -> None:
    """Deltas of 20 KB, translated and only copied."""
    with run.farm(TURNWIRE, OWN_RELAY) as farm:
        loads = as_long_as(run, farm, Load(plan=Plan(deltas=0, size=20_480, batch=2)))
        for number, name in run.order(farm):
            run.load(farm, "large", "20 KB", number, name, loads[name])


def twice(run: Run) -> None:
    """Deltas in one frame, and in both delta frames."""
    with run.farm(TURNWIRE) as farm:
        once = as_long_as(run, farm, Load(plan=Plan(deltas=0)))
        for number, name in run.order(farm):
            deltas = once[name].plan.deltas
            for spellings, case in ((1, "once"), (2, "twice")):
                load = Load(plan=Plan(deltas=deltas, spellings=spellings))
                run.load(farm, "twice", case, number, name, load)


def memory(run: Run) -> None:
    """What open streams hold. Each round is of processes that had few before."""
    count = run.effort.streams_of_memory
    load = Load(plan=Plan(deltas=1, hold=True), streams=count, ramp_us=RAMP_US)
    for number in range(min(3, run.effort.rounds)):
        with run.farm(TURNWIRE, HELPER, HANDWRITTEN, FORWARDING, NGINX) as farm:
            for name in farm.names:
                measure = partial(open_streams, farm, name, number, load)
                run.add("memory", f"{count}", number, name, measure)


def memory_growth(run: Run) -> None:
    """What requests leave behind, after the first 300, and after as many again."""
    count = run.effort.requests_of_growth
    for number in range(min(3, run.effort.rounds)):
        with run.farm(TURNWIRE) as farm:
            measure = partial(_grow, farm, number, count)
            run.add("memory-growth", f"{count}", number, TURNWIRE, measure)


def _grow(farm: Farm, number: int, count: int) -> Round:
    first = Load(plan=Plan(deltas=20), total=300)
    later = Load(plan=Plan(deltas=20), total=count)
    fault = farm.run(TURNWIRE, first)[0].fault
    sizes = [farm.pss_bytes(TURNWIRE)]
    for _ in range(2):
        fault = farm.run(TURNWIRE, later)[0].fault or fault
        sizes.append(farm.pss_bytes(TURNWIRE))
    return Round(
        mode="memory-growth",
        case=f"{count}",
        contender=TURNWIRE,
        number=number,
        figures={
            "grown_mb": (sizes[1] - sizes[0]) / MIB,
            "grown_later_mb": (sizes[2] - sizes[1]) / MIB,
        },
        void=fault,
    )


def slow(run: Run) -> None:
    """Five clients that hardly read 40 MB each, and then are gone."""
    load = Load(
        plan=Plan(deltas=run.effort.slow_deltas, size=40),
        streams=5,
        nap_us=5_000,
        read_bytes=4_096,
    )
    for number in range(min(3, run.effort.rounds)):
        with run.farm(TURNWIRE) as farm:
            run.add(
                "slow",
                "5",
                number,
                TURNWIRE,
                partial(_stall, farm, number, load, run.effort.slow_s),
            )


def _stall(farm: Farm, number: int, load: Load, watch_s: float) -> Round:
    before = farm.pss_bytes(TURNWIRE)
    most = before
    client = farm.start(TURNWIRE, load)
    try:
        wait_for(lambda: farm.stats().open == load.streams, load.patience_s, "open streams")
        until = time.monotonic() + watch_s
        while time.monotonic() < until:
            most = max(most, farm.pss_bytes(TURNWIRE))
            time.sleep(0.1)
        open_still = farm.stats().open
    finally:
        client.kill()
    gone_at = time.monotonic()
    wait_for(lambda: farm.stats().sockets == 0, _GONE_S, "the agent's sockets to close")
    closed_s = time.monotonic() - gone_at
    return Round(
        mode="slow",
        case=f"{load.streams}",
        contender=TURNWIRE,
        number=number,
        figures={"mb_per_stream": (most - before) / MIB / load.streams, "closed_s": closed_s},
        void=None if open_still == load.streams else "streams ended before their clients left",
    )


WEBSOCKET_MODES: Final[Mapping[str, Mode]] = {
    "burst": burst,
    "paced": paced,
    "short": short,
    "length": length,
    "streams": streams,
    "large": large,
    "twice": twice,
    "memory": memory,
    "memory-growth": memory_growth,
    "slow": slow,
}
