"""The metrics of the agent runtime, as a table."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from turnwire_agent import metrics

HEAD: Final = ("Metric", "Type", "Labels", "What it counts")
METRICS: Final = tuple(
    each for each in vars(metrics).values() if isinstance(each, Counter | Gauge | Histogram)
)


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Each metric: its name, its type, its labels with their words, and what it says."""
    for metric in METRICS:
        (family,) = metric.describe()
        suffix = "_total" if family.type == "counter" else ""
        yield f"`{family.name}{suffix}`", family.type, _labels(metric), family.documentation


def _labels(metric: Counter | Gauge | Histogram) -> str:
    words = {
        name: [value for sample in family.samples if (value := sample.labels.get(name))]
        for family in metric.collect()
        for name in metric._labelnames  # noqa: SLF001 - the library has no other way to ask
    }
    return "<br>".join(_label(name, values) for name, values in words.items()) or "none"


def _label(name: str, values: list[str]) -> str:
    shown = ", ".join(f"`{value}`" for value in dict.fromkeys(values))
    return f"`{name}`: {shown}" if shown else f"`{name}`"
