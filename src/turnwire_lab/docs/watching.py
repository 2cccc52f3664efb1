"""The alerts and the recording rules, as tables."""

from collections.abc import Iterator

from turnwire_lab.dashboards.alert import RUNBOOK, Alert
from turnwire_lab.dashboards.alerts import ALERTS
from turnwire_lab.dashboards.recording import RECORDS


def alert_rows() -> Iterator[tuple[str, str, str, str]]:
    """Each alert: its name, severity, condition and summary."""
    page = RUNBOOK.rpartition("/")[2]
    for alert in ALERTS:
        name = f"[`{alert.name}`]({page}#{alert.anchor})"
        summary = alert.summary.replace("{{ ", "").replace(" }}", "").replace("$labels.", "the ")
        yield name, alert.severity.value, _when(alert), f"{summary[0].upper()}{summary[1:]}"


def record_rows() -> Iterator[tuple[str, str]]:
    """Each recording rule, and what it is."""
    for record in RECORDS:
        yield f"`{record.name}`", record.what


def _when(alert: Alert) -> str:
    ways = (" and ".join(f"`{each.expr}`" for each in way) for way in alert.when)
    lasts = "" if alert.lasts == "0s" else f", for {alert.lasts}"
    return " or ".join(ways).replace("|", "\\|") + lasts
