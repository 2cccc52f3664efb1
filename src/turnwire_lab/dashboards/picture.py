"""The dashboard as a picture, plotted from the results of its queries in a run."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, MaxNLocator

from turnwire_lab.dashboards.panel import Panel, Row, Unit
from turnwire_lab.dashboards.panels import ROWS

Samples = Sequence[tuple[float, float]]
Series = Sequence[tuple[Mapping[str, str], Samples]]

_WIDTH: Final = 20.0
_HEIGHTS: Final = {"timeseries": 2.55, "stat": 1.25}
"""Inches."""
_ROW: Final = 0.5
_COLUMNS: Final = 24
_LEGEND_MOST: Final = 10

_BACK, _CARD, _TEXT, _FAINT, _GRID, _RED = (
    "#111217",
    "#181b1f",
    "#d5d8de",
    "#8e95a1",
    "#2a2e35",
    "#e0556a",
)
_COLOURS: Final = (
    *("#73bf69", "#5794f2", "#f2cc0c", "#ff9830", "#b877d9", "#37c2c7", "#f2749a", "#c0c6cf"),
    *("#8ab8ff", "#c8f2c2", "#ffcb7d", "#dea6ff"),
)

_STEPS: Final = {
    "bytes": (1024, ("B", "KiB", "MiB", "GiB")),
    "Bps": (1024, ("B/s", "KiB/s", "MiB/s", "GiB/s")),
}
_SUFFIX: Final[Mapping[Unit, str]] = {"reqps": "/s", "cps": "/s"}
_MINUTE: Final = 60
_MILLI: Final = 0.001
_THOUSAND: Final = 1000


def picture(results: Mapping[str, Series], to: Path) -> None:
    """Plot every panel; `results` has the series of each query."""
    mpl.use("agg")
    height = sum(_ROW + sum(_HEIGHTS[kind] for kind in _lines(row)) for row in ROWS) + 0.3
    figure = Figure(figsize=(_WIDTH, height), facecolor=_BACK)
    top = height - 0.1
    for row in ROWS:
        figure.text(0.012, (top - 0.33) / height, row.title, color=_TEXT, size=15, weight="bold")
        top -= _ROW
        x = 0
        for panel in row.panels:
            tall = _HEIGHTS[panel.kind]
            _card(figure, panel, results, (x / _COLUMNS, (top - tall) / height), tall / height)
            x += panel.width
            if x >= _COLUMNS:
                x, top = 0, top - tall
        top -= tall if x else 0
    figure.savefig(to, dpi=80, facecolor=_BACK)


def _lines(row: Row) -> list[str]:
    """The kinds of the lines that a row's panels make."""
    lines: list[str] = []
    x = 0
    for panel in row.panels:
        if x == 0:
            lines.append(panel.kind)
        x = (x + panel.width) % _COLUMNS
    return lines


def _card(
    figure: Figure,
    panel: Panel,
    results: Mapping[str, Series],
    corner: tuple[float, float],
    tall: float,
) -> None:
    wide = panel.width / _COLUMNS
    inch_x, inch_y = 1 / _WIDTH, tall / _HEIGHTS[panel.kind]
    card = figure.add_axes(
        (
            corner[0] + 0.08 * inch_x,
            corner[1] + 0.08 * inch_y,
            wide - 0.16 * inch_x,
            tall - 0.1 * inch_y,
        ),
        facecolor=_CARD,
    )
    card.set(xticks=[], yticks=[])
    for spine in card.spines.values():
        spine.set_color(_GRID)
    card.text(
        0.12 / (wide * _WIDTH), 1 - 0.1 / _HEIGHTS[panel.kind], panel.title,
        color=_TEXT, size=10.5, weight="medium", va="top", transform=card.transAxes,
    )  # fmt: skip
    lines = [
        (_legend(query.legend, labels), samples)
        for query in panel.queries
        for labels, samples in results[query.expr]
    ]
    if panel.kind == "stat":
        _number(card, panel, lines)
        return
    below = 0.62 if len(lines) > 1 else 0.4
    axes = figure.add_axes(
        (
            corner[0] + 0.75 * inch_x,
            corner[1] + below * inch_y,
            wide - 1.0 * inch_x,
            tall - (below + 0.5) * inch_y,
        ),
        facecolor=_CARD,
    )
    _plot(axes, panel, lines)


def _number(card: Axes, panel: Panel, lines: Sequence[tuple[str, Samples]]) -> None:
    values = [value for _, value in lines[0][1] if value == value]  # noqa: PLR0124 (NaN is not)
    number = _formatter(panel.unit)(values[-1])
    over = panel.limit is not None and values[-1] > panel.limit
    colour = _RED if over else _COLOURS[0]
    behind = card.inset_axes((0, 0, 1, 0.5))
    behind.axis("off")
    behind.fill_between(range(len(values)), values, color=colour, alpha=0.15, linewidth=0)
    behind.plot(values, color=colour, alpha=0.5, linewidth=1)
    behind.margins(0)
    card.text(
        0.5, 0.42, number, color=colour, size=24, ha="center", va="center", transform=card.transAxes
    )


def _plot(axes: Axes, panel: Panel, lines: Sequence[tuple[str, Samples]]) -> None:
    shown = [line for line in lines if any(value > 0 for _, value in line[1])] or lines
    shown = sorted(shown, key=lambda line: -_most(line[1]))
    begin = min(at for _, samples in lines for at, _ in samples)
    times = sorted({at for _, samples in lines for at, _ in samples})
    base = [0.0] * len(times)
    for number, (label, samples) in enumerate(shown):
        colour = _COLOURS[number % len(_COLOURS)]
        values = dict(samples)
        x = [at - begin for at in times]
        y = [values.get(at, float("nan")) for at in times]
        name = (label or "all") if number < _LEGEND_MOST else None
        if panel.stacked:
            above = [low + (high if high == high else 0) for low, high in zip(base, y, strict=True)]  # noqa: PLR0124
            axes.fill_between(x, base, above, color=colour, alpha=0.55, linewidth=0, label=name)
            axes.plot(x, above, color=colour, linewidth=0.8)
            base = above
        else:
            axes.plot(x, y, color=colour, linewidth=1.5, label=name)
    _finish(axes, panel, many=len(lines) > 1)


def _finish(axes: Axes, panel: Panel, *, many: bool) -> None:
    axes.set_ylim(bottom=0)
    top = axes.get_ylim()[1]
    if panel.limit is not None and panel.limit < 20 * top:
        axes.axhline(panel.limit, color=_RED, linewidth=1, linestyle="--", alpha=0.8)
        axes.set_ylim(top=max(top, panel.limit * 1.1))
    say = _formatter(panel.unit)
    axes.yaxis.set_major_locator(_locator(panel.unit, axes.get_ylim()[1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: say(value)))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f} s"))
    axes.tick_params(colors=_FAINT, labelsize=8, length=0)
    axes.grid(color=_GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.margins(x=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if many:
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.48, -0.16), ncol=5, fontsize=7.5, frameon=False,
            labelcolor=_TEXT, handlelength=1.2, columnspacing=1.1, handletextpad=0.4, borderpad=0,
        )  # fmt: skip


def _locator(unit: Unit, top: float) -> Locator:
    """Round numbers, in the unit of the panel."""
    steps = MaxNLocator(5, integer=unit in {"short", "none"})
    if unit not in _STEPS:
        return steps
    step, scale = _STEPS[unit][0], 1
    while top >= scale * step:
        scale *= step
    return FixedLocator([tick * scale for tick in steps.tick_values(0, top / scale)])


def _most(samples: Samples) -> float:
    return max((value for _, value in samples if value == value), default=0.0)  # noqa: PLR0124


def _legend(form: str, labels: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), form).strip()


def _formatter(unit: Unit) -> Callable[[float], str]:
    if unit == "percentunit":
        return lambda value: f"{value * 100:.3g} %"
    if unit == "s":
        return _seconds
    if unit in _STEPS:
        return lambda value: _scaled(value, *_STEPS[unit])
    return lambda value: f"{_short(value)}{_SUFFIX.get(unit, '')}"


def _short(value: float) -> str:
    return f"{value:.3g}" if value < _THOUSAND else f"{value:,.0f}"


def _seconds(value: float) -> str:
    if value == 0:
        return "0"
    if value < _MILLI:
        return f"{value * 1e6:.3g} µs"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} s" if value < 2 * _MINUTE else f"{value / _MINUTE:.3g} min"


def _scaled(value: float, step: int, names: Sequence[str]) -> str:
    number = 0
    while value >= step and number < len(names) - 1:
        value, number = value / step, number + 1
    return f"{value:.3g} {names[number]}"
