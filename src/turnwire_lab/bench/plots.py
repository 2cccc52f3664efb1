"""The plots, as SVG that a page can show: letters stay letters, and the same run gives the same."""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from turnwire_lab.bench.contenders import (
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
from turnwire_lab.bench.growth.axes import AXES, MODE
from turnwire_lab.bench.measures import added_us
from turnwire_lab.bench.rounds import Rounds

Axes = Any
"""Of matplotlib, which only a run of the benchmark needs."""

_COLOURS: Final[Mapping[str, str]] = {
    TURNWIRE: "#0b6e4f",
    SESSION_AGENT: "#6fb98f",
    TWO_WORKERS: "#c2a83e",
    OWN_RELAY: "#a9b8b2",
    HELPER: "#c8553d",
    HANDWRITTEN: "#e39b83",
    FORWARDING: "#4f6d9a",
    NAIVE: "#9aa6bd",
    NGINX: "#555555",
    DIRECT: "#bbbbbb",
}
_POINTS: Final = ("p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999")
_PARTS: Final = (1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9)
_RC: Final = {
    "svg.fonttype": "none",
    "svg.hashsalt": "turnwire",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
}


def draw(rounds: Rounds, folder: Path) -> Sequence[str]:
    """Draw what was measured. Returns `name:words` of each picture."""
    mpl: Any = importlib.import_module("matplotlib")
    mpl.use("svg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    drawn = []
    with mpl.rc_context(_RC):
        for name, words, plot in _PLOTS:
            figure, axes = pyplot.subplots(figsize=(7.2, 3.6), layout="constrained")
            if plot(axes, rounds):
                axes.set_title(words, loc="left", fontsize=11)
                path = folder / f"{name}.svg"
                figure.savefig(path, metadata={"Date": None, "Creator": None})
                path.write_text(_trimmed(path.read_text(encoding="utf-8")), encoding="utf-8")
                drawn.append(f"{path.name}:{words}")
            pyplot.close(figure)
    return drawn


def _trimmed(svg: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())


def _legend(axes: Axes) -> None:
    """Beside the plot, where it hides nothing."""
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def _plain(axis: Any) -> None:
    """Plain numbers in place of powers of ten."""
    axis.set_major_formatter("{x:,.0f}")
    axis.set_minor_formatter("")


def _middle(rounds: Rounds, mode: str, case: str, contender: str, figure: str) -> float | None:
    values = rounds.values(mode, case, contender, figure)
    return median(values.values()) if values else None


def _bars(
    mode: str, figure: str, label: str, *, log: bool = False
) -> Callable[[Axes, Rounds], bool]:
    """A group of bars for each case, one bar for each contender."""

    def plot(axes: Axes, rounds: Rounds) -> bool:
        cases = rounds.cases(mode)
        names = [each for each in _COLOURS if each in rounds.contenders(mode) and each != DIRECT]
        width = 0.85 / max(len(names), 1)
        tops: list[float] = []
        for at, name in enumerate(names):
            middles = [_middle(rounds, mode, case, name, figure) for case in cases]
            there = [(i + at * width, v) for i, v in enumerate(middles) if v is not None]
            places, heights = [p for p, _ in there], [v for _, v in there]
            axes.bar(places, heights, width, label=name, color=_COLOURS[name])
            tops += heights
        axes.set_xticks([i + 0.425 - width / 2 for i in range(len(cases))], cases)
        axes.set_ylabel(label)
        if log and tops:
            axes.set_yscale("log")
            axes.set_ylim(10 ** math.floor(math.log10(min(tops))), 2 * max(tops))
            _plain(axes.yaxis)
        if tops:
            _legend(axes)
        return bool(tops)

    return plot


def _line(
    mode: str, figure: str, across: str, label: str, *, of: str = "", log: bool = False
) -> Callable[[Axes, Rounds], bool]:
    """What a figure becomes over the cases, which are numbers behind `of`; the band is all rounds.

    `log`: both scales are logarithmic, so that a power is a straight line.
    """

    def plot(axes: Axes, rounds: Rounds) -> bool:
        names = [each for each in _COLOURS if each in rounds.contenders(mode)]
        is_drawn = False
        for name in names:
            seen = {
                int(case.removeprefix(of)): rounds.values(mode, case, name, figure)
                for case in rounds.cases(mode)
                if case.startswith(of) and case.removeprefix(of).isdigit()
            }
            there = sorted((case, list(values.values())) for case, values in seen.items() if values)
            cases, middles = [case for case, _ in there], [median(values) for _, values in there]
            if not there:
                continue
            axes.plot(cases, middles, marker="o", label=name, color=_COLOURS[name])
            is_drawn = True
            low, high = [min(v) for _, v in there], [max(v) for _, v in there]
            axes.fill_between(cases, low, high, alpha=0.2, color=_COLOURS[name], linewidth=0)
        axes.set(xscale="log", xlabel=across, ylabel=label)
        _plain(axes.xaxis)
        if log and is_drawn:
            _whole_decades(axes)
        else:
            axes.set_ylim(bottom=0)
        if len(names) > 1:
            _legend(axes)
        return is_drawn

    return plot


def _whole_decades(axes: Axes) -> None:
    """A logarithmic scale of whole decades: what hardly changes looks as if it hardly did."""
    axes.set_yscale("log")
    low, high = axes.dataLim.intervaly
    axes.set_ylim(10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high * 1.01)))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_formatter("")


def _latency(case: str) -> Callable[[Axes, Rounds], bool]:
    def plot(axes: Axes, rounds: Rounds) -> bool:
        names = [each for each in _COLOURS if each in rounds.contenders("paced") and each != DIRECT]
        is_drawn = False
        for name in names:
            by_point = [list(added_us(rounds, case, name, point).values()) for point in _POINTS]
            if all(by_point):
                middles = [max(median(values), 1.0) for values in by_point]
                axes.plot(middles, _PARTS, label=name, color=_COLOURS[name])
                is_drawn = True
        axes.set(xscale="log", xlabel="added latency, µs", ylabel="% of deltas")
        _plain(axes.xaxis)
        if is_drawn:
            _legend(axes)
        return is_drawn

    return plot


_PLOTS: Final[Sequence[tuple[str, str, Callable[[Axes, Rounds], bool]]]] = (
    (
        "frames",
        "Frames per second and core, the agent as fast as it can (logarithmic)",
        _bars("burst", "frames_per_core_s", "frames/s/core", log=True),
    ),
    (
        "paced",
        "CPU per frame, every stream with 50 deltas a second",
        _bars("paced", "us_per_frame", "µs of CPU per frame"),
    ),
    ("latency-100", "Added latency, 100 streams with 50 deltas a second", _latency("100 x 50/s")),
    ("latency-400", "Added latency, 400 streams with 50 deltas a second", _latency("400 x 50/s")),
    (
        "memory",
        "Memory of a thousand open streams",
        _bars("memory", "mb_per_1000", "MB per 1,000 streams"),
    ),
    (
        "length",
        "CPU per frame against the length of a turn",
        _line("length", "us_per_frame", "deltas of a turn", "µs of CPU per frame"),
    ),
    (
        "streams",
        "CPU per frame against the streams that share 4,000 frames a second",
        _line("streams", "us_per_frame", "open streams", "µs of CPU per frame"),
    ),
    *(
        (
            f"growth-{axis.name}",
            axis.title,
            _line(
                MODE,
                axis.figure,
                axis.across,
                f"µs of CPU per {axis.unit}",
                of=axis.case_prefix,
                log=True,
            ),
        )
        for axis in AXES
    ),
)
