"""What several modes share: how long a load is to be, and what open streams hold."""

from collections.abc import Mapping
from typing import Final

from turnwire_lab.bench.farm import Farm
from turnwire_lab.bench.load import Load
from turnwire_lab.bench.rounds import Round
from turnwire_lab.bench.run import Run

MIB: Final = 1 << 20
RAMP_US: Final = 500
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
