"""The panels as a dashboard that Grafana imports."""

from typing import Final

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as models

from turnwire_lab.dashboards.alert import RUNBOOK, Alert
from turnwire_lab.dashboards.alerts import ALERTS
from turnwire_lab.dashboards.panel import Panel, Query
from turnwire_lab.dashboards.panels import ROWS

HEIGHT: Final = {"timeseries": 8, "stat": 4}

_SOURCE: Final = models.DataSourceRef("prometheus", "${datasource}")
_ALERTS: Final = {alert.name: alert for alert in ALERTS}
_RED: Final = "red"
_OURS: Final = '__name__=~"turnwire_build_info|turnwire_agent_build_info"'
"""Of gateways, and of agents that run on the agent runtime."""


def grafana() -> str:
    """The JSON of the dashboard."""
    board = (
        dashboard.Dashboard("turnwire")
        .uid("turnwire")
        .description("Turns, their ends and their speed; what saturates; what is refused.")
        .tags(["turnwire"])
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .time("now-1h", "now")
        .refresh("30s")
        .timezone("browser")
        .editable()
        .with_variable(
            dashboard.DatasourceVariable("datasource").label("Source").type("prometheus")
        )
        .with_variable(_label("job", f"{{{_OURS}}}"))
        .with_variable(_label("instance", f'{{{_OURS},job=~"$job"}}'))
        .with_variable(
            dashboard.TextBoxVariable("runbook")
            .label("Runbook")
            .description("Where the page is that the panels' links lead to.")
            .default_value(RUNBOOK)
            .current(models.VariableOption(selected=True, text=RUNBOOK, value=RUNBOOK))
        )
    )
    number = 0
    for row in ROWS:
        number += 1
        board.with_row(dashboard.Row(row.title).id(number))
        for panel in row.panels:
            number += 1
            drawn = _stat(panel) if panel.kind == "stat" else _timeseries(panel)
            board.with_panel(drawn.id(number))
    text: str = JSONEncoder(indent=2, sort_keys=True).encode(board.build())
    return text + "\n"


def _label(name: str, of: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .label(name.capitalize())
        .datasource(_SOURCE)
        .query(f"label_values({of}, {name})")
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .multi(multi=True)
        .include_all(include_all=True)
        .all_value(".*")
        .current(models.VariableOption(selected=True, text="All", value="$__all"))
    )


def _target(query: Query, number: int) -> prometheus.Dataquery:
    return (
        prometheus.Dataquery()
        .datasource(_SOURCE)
        .expr(query.expr)
        .legend_format(query.legend)
        .ref_id(chr(ord("A") + number))
        .range()
    )


def _links(panel: Panel) -> list[Builder[models.DashboardLink]]:
    return [_link(_ALERTS[name]) for name in panel.alerts]


def _link(alert: Alert) -> dashboard.DashboardLink:
    return (
        dashboard.DashboardLink(f"Runbook: {alert.name}")
        .type(models.DashboardLinkType.LINK)
        .url(f"${{runbook}}#{alert.anchor}")
        .target_blank(target_blank=True)
    )


def _thresholds(panel: Panel) -> dashboard.ThresholdsConfig:
    steps = [models.Threshold(None, "green")]
    if panel.limit is not None:
        steps.append(models.Threshold(panel.limit, _RED))
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps)


def _stat(panel: Panel) -> stat.Panel:
    drawn = (
        stat.Panel()
        .title(panel.title)
        .description(panel.description)
        .datasource(_SOURCE)
        .height(HEIGHT[panel.kind])
        .span(panel.width)
        .unit(panel.unit)
        .links(_links(panel))
        .thresholds(_thresholds(panel))
        .color_mode(kinds.BigValueColorMode.VALUE)
        .graph_mode(kinds.BigValueGraphMode.AREA)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
    )
    for number, query in enumerate(panel.queries):
        drawn.with_target(_target(query, number))
    return drawn


def _timeseries(panel: Panel) -> timeseries.Panel:
    stacking = kinds.StackingMode.NORMAL if panel.stacked else kinds.StackingMode.NONE
    line = kinds.GraphTresholdsStyleMode.DASHED
    if panel.limit is None:
        line = kinds.GraphTresholdsStyleMode.OFF
    drawn = (
        timeseries.Panel()
        .title(panel.title)
        .description(panel.description)
        .datasource(_SOURCE)
        .height(HEIGHT[panel.kind])
        .span(panel.width)
        .unit(panel.unit)
        .min(0)
        .links(_links(panel))
        .thresholds(_thresholds(panel))
        .thresholds_style(common.GraphThresholdsStyleConfig().mode(line))
        .fill_opacity(30 if panel.stacked else 8)
        .line_width(1 if panel.stacked else 2)
        .show_points(kinds.VisibilityMode.NEVER)
        .stacking(common.StackingConfig().mode(stacking))
        .legend(
            common.VizLegendOptions()
            .display_mode(kinds.LegendDisplayMode.LIST)
            .placement(kinds.LegendPlacement.BOTTOM)
            .show_legend(show_legend=True)
        )
        .tooltip(
            common.VizTooltipOptions()
            .mode(kinds.TooltipDisplayMode.MULTI)
            .sort(kinds.SortOrder.DESCENDING)
        )
    )
    for number, query in enumerate(panel.queries):
        drawn.with_target(_target(query, number))
    return drawn
