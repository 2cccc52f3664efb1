"""The forms that most conditions of alerts have."""

from turnwire_lab.dashboards.alert import Condition


def all_of(*conditions: Condition) -> tuple[tuple[Condition, ...], ...]:
    return (conditions,)


def over(value: str, threshold: float) -> tuple[tuple[Condition, ...], ...]:
    return all_of(Condition(value, ">", threshold))


def rises(metric: str, window: str, by: str = "job") -> str:
    """By how much a counter rose in a time, in all series of a label's value."""
    return f"sum by ({by}) (increase({metric}[{window}]))"
