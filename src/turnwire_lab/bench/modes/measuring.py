"""What several modes share: how long a load is to be, and what open streams hold."""

import math
from collections.abc import Mapping
from typing import Final

from turnwire_lab.bench.farm import Farm
from turnwire_lab.bench.load import Load, Plan
from turnwire_lab.bench.rounds import Round
from turnwire_lab.bench.run import Run

MIB: Final = 1 << 20
RAMP_US: Final = 500
CROWD_RAMP_US: Final = 2_500
"""Slower than any gateway here opens them, or the kernel drops what it has no room for in the
queue of the listening socket, and the last ones come after half a minute of its patience."""
TOKEN_RATE: Final = 50
"""Deltas a second of a paced stream, as model tokens come."""
_FIRST_DELTAS: Final = 20_000
"""Of a first look, in all."""
_FIRST_BYTES: Final = 40_000_000


def as_long_as(run: Run, farm: Farm, load: Load) -> Mapping[str, Load]:
    """For each contender the load that keeps it busy for as long as a round is to be."""
    first = max(20, min(_FIRST_DELTAS, _FIRST_BYTES // load.plan.size) // load.streams)
    looks = {name: load.with_deltas(first) for name in farm.names}
    run.calibrated(farm, looks)  # Node is slow until it has seen its work
    found = run.calibrated(farm, looks)
    return {
        name: load.with_deltas(
            max(20, int(each.deltas / each.wall_s * run.effort.seconds / load.streams))
        )
        for name, each in found.items()
    }


def streams_of(count: int) -> str:
    """The name of a case."""
    return f"{count} stream{'s' if count > 1 else ''}"


def turns_of(deltas: int, seconds: float) -> Load:
    """Turns of so many deltas: as many deltas in all, or one turn."""
    turns = max(1, int(250_000 * seconds) // max(deltas, 500))
    return Load(plan=Plan(deltas=deltas), total=turns)


def crowd_of(streams: int, rate: float, seconds: float) -> tuple[Load, float]:
    """Streams that are opened first and then get `rate` deltas a second each.

    Returns the load, and how long it goes on then, in seconds.
    """
    steps = math.ceil(2 * seconds * rate)
    plan = Plan(deltas=1 + steps, rate=rate, hold=True)
    return Load(plan=plan, streams=streams, ramp_us=CROWD_RAMP_US), steps / rate


def paced_plan(seconds: float) -> tuple[int, Plan]:
    """A turn that is held, and then goes on as model tokens come.

    Returns after how many deltas more it ends, and the plan.
    """
    steps = math.ceil(seconds * TOKEN_RATE)
    return steps, Plan(deltas=1 + steps, rate=TOKEN_RATE, hold=True)


def open_streams(farm: Farm, name: str, number: int, load: Load, *, mode: str = "memory") -> Round:
    """What streams hold that are all open at once."""
    before = farm.pss_bytes(name)
    client = farm.start(name, load)
    try:
        farm.all_held(load.streams, load.patience_s)
        held = farm.pss_bytes(name) - before
        farm.go()
        found = client.found()
    finally:
        client.kill()
    return Round(
        mode=mode,
        case=f"{load.streams}",
        contender=name,
        number=number,
        figures={"mb_per_1000": held / MIB * 1000 / load.streams, "before_mb": before / MIB},
        void=found.fault,
    )
