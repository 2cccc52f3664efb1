"""The mode about what a turn log adds to the latency, in many rounds."""

from collections.abc import Mapping, Sequence
from typing import Final

from turnwire_lab.bench.contenders import (
    AG_UI,
    AG_UI_BESIDE_REDIS,
    AG_UI_LOGGED,
    AG_UI_REDIS,
    LINE,
)
from turnwire_lab.bench.farm import Farm, Measured
from turnwire_lab.bench.late import RECORD, REPEAT, REST
from turnwire_lab.bench.load import Load
from turnwire_lab.bench.modes.measuring import TOKEN_RATE, paced_plan
from turnwire_lab.bench.programs import START_S
from turnwire_lab.bench.rounds import ROUNDS_A_START
from turnwire_lab.bench.run import Mode, Run

_MODE: Final = "turn-log"
_STREAMS: Final = 100


class BesideRedis:
    """The contenders of a farm, and one more: `AG_UI` while the Redis is at work for nobody."""

    def __init__(self, farm: Farm) -> None:
        self._farm = farm

    @property
    def names(self) -> Sequence[str]:
        names = list(self._farm.names)
        return [*names, AG_UI_BESIDE_REDIS] if AG_UI_REDIS in names else names

    def record(self, load: Load, window_s: float) -> None:
        """Keep what a gateway with its turn log in the Redis sends under this load."""
        self._beside(RECORD, AG_UI_REDIS, load, window_s)

    def run(self, name: str, load: Load) -> Measured:
        return self._farm.run(name, load)

    def run_held(self, name: str, load: Load, window_s: float) -> Measured:
        if name == AG_UI_BESIDE_REDIS:
            return self._beside(REPEAT, AG_UI, load, window_s)
        return self._farm.run_held(name, load, window_s)

    def _beside(self, order: bytes, name: str, load: Load, window_s: float) -> Measured:
        line = self._farm.program(LINE)
        line.ask(order, START_S)
        try:
            return self._farm.run_held(name, load, window_s)
        finally:
            line.ask(REST, START_S)


def latency(run: Run) -> None:
    """A hundred streams with a turn log and without, for longer, to be run for many rounds.

    In one round the 99th percentile differs by a fifth from that of another round. And the Redis
    of the rig takes a part of the processor from all others, as one on another machine would not.
    So there is a gateway without a turn log beside the same work of the Redis, to compare with.
    All are started anew now and then: two starts of one gateway differ by some percent.
    """
    for first in range(0, run.effort.rounds, ROUNDS_A_START):
        _after_a_start(run, range(first, min(first + ROUNDS_A_START, run.effort.rounds)))


def _after_a_start(run: Run, rounds: range) -> None:
    steps, plan = paced_plan(3 * run.effort.seconds)
    load, window_s = Load(plan=plan, streams=_STREAMS), steps / TOKEN_RATE
    case = f"{_STREAMS} x {TOKEN_RATE}/s"
    with run.farm(AG_UI, AG_UI_LOGGED, AG_UI_REDIS) as farm:
        beside = BesideRedis(farm)
        if AG_UI_REDIS in farm.names:
            beside.record(load, window_s)
        for number, name in run.order(beside, len(rounds)):
            run.load(beside, _MODE, case, rounds[number], name, load, window_s=window_s)


TURN_LOG_MODES: Final[Mapping[str, Mode]] = {_MODE: latency}
