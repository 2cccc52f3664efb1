"""The modes about agents over HTTP: their wires beside `v2` on the same texts, and beside peers."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from turnwire_lab.bench.contenders import (
    AG_UI,
    AG_UI_LOGGED,
    AG_UI_NODE,
    AG_UI_PYTHON,
    AG_UI_REDIS,
    DIRECT,
    OPENAI_CHAT,
    OPENAI_CHAT_NODE,
    OPENAI_CHAT_PYTHON,
    TURNWIRE,
)
from turnwire_lab.bench.load import Load, Plan
from turnwire_lab.bench.modes.measuring import (
    RAMP_US,
    TOKEN_RATE,
    as_long_as,
    open_streams,
    paced_plan,
    streams_of,
)
from turnwire_lab.bench.run import Mode, Run

_NOISE: Final = 20_000
"""Bytes beside each delta: at 50 deltas a second, 1 MB a second."""
_NOISY_STREAMS: Final = 10
_TURN_BYTES: Final = 10_000


def burst(run: Run) -> None:
    """The agent sends as fast as it can."""
    peers = [AG_UI_NODE, AG_UI_PYTHON, OPENAI_CHAT_NODE, OPENAI_CHAT_PYTHON]
    with run.farm(TURNWIRE, AG_UI, OPENAI_CHAT, *peers) as farm:
        for streams in (1, 100) if run.effort.is_quick else (1, 10, 100):
            loads = as_long_as(run, farm, Load(plan=Plan(deltas=0), streams=streams))
            for number, name in run.order(farm):
                run.load(farm, "http-burst", streams_of(streams), number, name, loads[name])


def paced(run: Run) -> None:
    """A hundred streams get 50 deltas a second each, also while the turn log keeps them."""
    names = [TURNWIRE, AG_UI, AG_UI_LOGGED, AG_UI_REDIS, OPENAI_CHAT, DIRECT]
    _paced(run, "http-paced", names, 100, {"100 x 50/s": 0})


def noise(run: Run) -> None:
    """The same beside 1 MB a second of what no client is shown, and without it."""
    _paced(run, "http-noise", [AG_UI], _NOISY_STREAMS, {"quiet": 0, "1 MB/s of noise": _NOISE})


def _paced(
    run: Run, mode: str, names: Sequence[str], streams: int, noises: Mapping[str, int]
) -> None:
    steps, plan = paced_plan(2 * run.effort.seconds)
    with run.farm(*names) as farm:
        for number, name in run.order(farm):
            for case, noise_bytes in noises.items():
                load = Load(plan=plan.with_noise(noise_bytes), streams=streams)
                run.load(farm, mode, case, number, name, load, window_s=steps / TOKEN_RATE)


def short(run: Run) -> None:
    """Turns of five deltas, one behind the other, from 32 clients."""
    clients, plan = 32, Plan(deltas=5)
    with run.farm(TURNWIRE, AG_UI) as farm:
        first = run.calibrated(
            farm,
            {name: Load(plan=plan, streams=clients, total=4 * clients) for name in farm.names},
        )
        for number, name in run.order(farm):
            turns_per_s = first[name].streams / first[name].wall_s
            total = max(clients, int(turns_per_s * run.effort.seconds))
            load = Load(plan=plan, streams=clients, total=total)
            run.load(farm, "http-short", f"{clients} clients", number, name, load)


def memory(run: Run) -> None:
    """What open streams hold, without a turn log and with one."""
    count = run.effort.streams_of_memory
    load = Load(plan=Plan(deltas=1, hold=True), streams=count, ramp_us=RAMP_US)
    for number in range(min(3, run.effort.rounds)):
        with run.farm(AG_UI, AG_UI_LOGGED) as farm:
            for name in farm.names:
                measure = partial(open_streams, farm, name, number, load, mode="http-memory")
                run.add("http-memory", f"{count}", number, name, measure)


def turn_log(run: Run) -> None:
    """The same for turns that have 10 KB so far: what their log takes in the gateway."""
    plan = Plan(deltas=1, size=_TURN_BYTES, hold=True)
    load = Load(plan=plan, streams=run.effort.streams_of_memory, ramp_us=RAMP_US)
    for number in range(min(3, run.effort.rounds)):
        with run.farm(AG_UI, AG_UI_LOGGED, AG_UI_REDIS) as farm:
            for name in farm.names:
                measure = partial(open_streams, farm, name, number, load, mode="http-turn-log")
                run.add("http-turn-log", f"{load.streams}", number, name, measure)


HTTP_MODES: Final[Mapping[str, Mode]] = {
    "http-burst": burst,
    "http-paced": paced,
    "http-noise": noise,
    "http-short": short,
    "http-memory": memory,
    "http-turn-log": turn_log,
}
