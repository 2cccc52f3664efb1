"""One run: modes one after the other, rounds interleaved in random order."""

import random
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

import msgspec

from turnwire_lab.bench.contenders import missing
from turnwire_lab.bench.effort import Effort
from turnwire_lab.bench.farm import Farm, Measured, quietest
from turnwire_lab.bench.load import Found, Load
from turnwire_lab.bench.machine import Cores
from turnwire_lab.bench.machine import cores as own_cores
from turnwire_lab.bench.programs import NotStartedError
from turnwire_lab.bench.rounds import Round, Rounds, of_load, of_window
from turnwire_lab.bench.tools import Tools

_REASON_CHARS: Final = 200
"""Of what a table says of a mode that did not start: all of it may be the output of a program."""


class Named(Protocol):
    """What has contenders."""

    @property
    def names(self) -> Sequence[str]: ...


class Loaded(Named, Protocol):
    """What puts loads on them, as a farm does."""

    def run(self, name: str, load: Load) -> Measured: ...

    def run_held(self, name: str, load: Load, window_s: float) -> Measured: ...


class Run:
    """What modes need: farms, the order of rounds, a place for what they find."""

    def __init__(
        self,
        tools: Tools,
        effort: Effort,
        folder: Path,
        tell: Callable[[str], None],
        cores: Cores | None = None,
    ) -> None:
        self.effort = effort
        self.folder = folder
        """For what programs write."""
        self.cores = cores or own_cores()
        self.until = effort.until()
        """After which no round is repeated."""
        self.rounds = Rounds()
        self.absent: dict[str, str] = {}
        """Contenders that could not be started, and modes that could not, and why."""
        self._tools = tools
        self._tell = tell

    def farm(self, *names: str) -> AbstractContextManager[Farm]:
        """Those of them that can be started here."""
        there = [name for name in names if self.is_there(name)]
        return Farm(self._tools, there, self.folder, self.cores)

    def order(self, farm: Named, times: int | None = None) -> Iterator[tuple[int, str]]:
        """Every contender once a round, in another order each time."""
        for number in range(times or self.effort.rounds):
            for name in random.sample(farm.names, len(farm.names)):
                yield number, name

    def load(
        self,
        farm: Loaded,
        mode: str,
        case: str,
        number: int,
        name: str,
        load: Load,
        *,
        window_s: float | None = None,
    ) -> None:
        """One round of a load. With `window_s` its turns are held until all are open."""

        def measure() -> Measured:
            if window_s is None:
                return farm.run(name, load)
            return farm.run_held(name, load, window_s)

        def figures() -> Round:
            found, spent = quietest(measure, self.until)
            return Round(
                mode=mode,
                case=case,
                contender=name,
                number=number,
                figures=of_load(found, spent) if window_s is None else of_window(found, spent),
                latency_us=found.latency_us,
                foreign=spent.foreign,
                void=found.fault,
            )

        self.add(mode, case, number, name, figures)

    def add(
        self, mode: str, case: str, number: int, name: str, measure: Callable[[], Round]
    ) -> None:
        """Measure; a round that fails is void, and the run goes on."""
        try:
            each = measure()
        except (NotStartedError, OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
            why = str(error) or type(error).__name__
            each = Round(mode=mode, case=case, contender=name, number=number, void=why)
        self.rounds.add(each)
        result = f"void: {each.void}" if each.void else _shown(each.figures)
        disturbed = ", disturbed" if each.disturbed else ""
        self._tell(f"{mode} {case} #{number + 1} {name}: {result}{disturbed}")

    def calibrated(self, farm: Farm, loads: Mapping[str, Load]) -> Mapping[str, Found]:
        """A first look at each contender, which warms it up too."""
        return {name: farm.run(name, load)[0] for name, load in loads.items()}

    def is_there(self, name: str, lacks: Callable[[str], str | None] = missing) -> bool:
        """Whether a contender can be started. `lacks` says why it cannot."""
        why = lacks(name)
        if why is not None:
            self.absent[name] = why
        return why is None


Mode = Callable[[Run], None]


def run_modes(run: Run, modes: Iterable[tuple[str, Mode]], tell: Callable[[str], None]) -> None:
    """One after the other; one that cannot even start does not keep the others from it."""
    for name, mode in modes:
        began = time.monotonic()
        try:
            mode(run)
        except (NotStartedError, OSError, subprocess.SubprocessError) as error:
            tell(f"{name}: {error}")
            first_line = (str(error) or type(error).__name__).splitlines()[0][:_REASON_CHARS]
            run.absent[f"the mode `{name}`"] = first_line
        tell(f"{name}: {time.monotonic() - began:.0f} s")


def _shown(figures: Mapping[str, float]) -> str:
    shown: Sequence[str] = [f"{name} {value:,.4g}" for name, value in figures.items()]
    return ", ".join(shown)
