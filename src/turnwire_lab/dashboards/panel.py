"""What a panel is, and the few forms that its queries have."""

from typing import Final, Literal

from msgspec import Struct

SELECTED: Final = 'job=~"$job",instance=~"$instance"'
"""What the variables of the dashboard choose."""

Unit = Literal["short", "reqps", "cps", "s", "percentunit", "bytes", "Bps", "none"]
"""Grafana's names of units."""


class Query(Struct, frozen=True):
    expr: str
    legend: str


class Panel(Struct, frozen=True):
    """`width` of 24; `alerts` are the names of those that it helps to understand."""

    title: str
    description: str
    unit: Unit
    queries: tuple[Query, ...]
    alerts: tuple[str, ...] = ()
    kind: Literal["timeseries", "stat"] = "timeseries"
    stacked: bool = False
    width: int = 8
    limit: float | None = None
    """Where a line is drawn."""


class Row(Struct, frozen=True):
    title: str
    panels: tuple[Panel, ...]


def of(metric: str, *matchers: str) -> str:
    """A metric of what is chosen."""
    return f"{metric}{{{','.join((SELECTED, *matchers))}}}"


def rate(metric: str, *matchers: str, by: str = "") -> str:
    """How fast a counter rises, in all that is chosen, by a label or not."""
    return f"{_sum(by)} (rate({of(metric, *matchers)}[$__rate_interval]))"


def quantile(part: float, metric: str, *matchers: str) -> str:
    """Of a histogram, over all that is chosen."""
    buckets = f"rate({of(f'{metric}_bucket', *matchers)}[$__rate_interval])"
    return f"histogram_quantile({part:g}, sum by (le) ({buckets}))"


def quantiles(metric: str, *parts: float) -> tuple[Query, ...]:
    return tuple(Query(quantile(part, metric), f"p{part * 100:g}") for part in parts)


def share(part: str, whole: str) -> str:
    return f"{part} / {whole}"


def _sum(by: str) -> str:
    return f"sum by ({by})" if by else "sum"
