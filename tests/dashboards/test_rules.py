"""The rules, as promtool checks them: each alert fires when it should, and else does not."""

import importlib
import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from dashboards.cases import ABSENT, CASES, MINUTES, series
from gateway.needed import program
from turnwire.cli.supervisor import _Supervisor
from turnwire.config.settings import Settings
from turnwire.metrics import Telemetry
from turnwire_lab.dashboards.__main__ import FILES, ROOT
from turnwire_lab.dashboards.alert import RUNBOOK
from turnwire_lab.dashboards.alerts import ALERTS
from turnwire_lab.dashboards.panels import ROWS
from turnwire_lab.dashboards.recording import RECORDS
from turnwire_lab.docs.runtime.metrics import METRICS

RULES = [ROOT / "rules" / name for name in ("recording.yml", "alerts.yml")]


def _test(told: Mapping[str, str | None], counts: Mapping[str, int]) -> dict[str, object]:
    """So many alerts fire at the end, for each way to ask."""
    return {
        "interval": "1m",
        "input_series": [
            {"series": each, "values": values} for each, values in told.items() if values
        ],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertstate="firing",{which}}}) or vector(0)',
                "eval_time": f"{MINUTES}m",
                "exp_samples": [{"labels": "{}", "value": count}],
            }
            for which, count in counts.items()
        ],
    }


def _promtool(tmp_path: Path, *tests: dict[str, object]) -> str:
    """What promtool says against the tests; nothing where they hold."""
    path = tmp_path / "tests.yml"
    told = {
        "rule_files": [str(each) for each in RULES],
        "evaluation_interval": "5m",
        "tests": tests,
    }
    path.write_text(json.dumps(told), encoding="utf-8")
    ran = subprocess.run(
        [program("promtool"), "test", "rules", path], capture_output=True, text=True, check=False
    )
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


SUFFIX = {"counter": "_total"}


def yaml_file(path: Path) -> Any:
    return importlib.import_module("yaml").safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_what_the_code_makes(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == FILES[name]()


def test_the_configuration_that_is_shown_loads_the_rules() -> None:
    ran = subprocess.run(
        [program("promtool"), "check", "config", ROOT / "prometheus.yml"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("rules found") == len(RULES)


def test_each_alert_has_a_case() -> None:
    cased = [ABSENT.alert, *(case.alert for case in CASES)]

    assert sorted(cased) == sorted(alert.name for alert in ALERTS)


@pytest.mark.timeout(180)
def test_each_alert_fires_when_it_should_and_else_does_not(tmp_path: Path) -> None:
    told = series({}, "healthy")
    counts = {'job="healthy"': 0}
    for case in CASES:
        told |= series(case.fires, f"{case.alert} fires") | series(case.quiet, f"{case.alert} not")
        counts[f'alertname="{case.alert}",job="{case.alert} fires"'] = 1
        counts[f'alertname="{case.alert}",job=~"{case.alert} not.*"'] = 0
    absent = f'alertname="{ABSENT.alert}"'

    assert not _promtool(
        tmp_path,
        _test(told, counts),
        _test(series(ABSENT.fires, "turnwire"), {absent: 1}),
        _test(series(ABSENT.quiet, "turnwire"), {absent: 0}),
    )


def test_a_case_can_fail(tmp_path: Path) -> None:
    absent = f'alertname="{ABSENT.alert}"'

    assert "FAILED" in _promtool(tmp_path, _test(series(ABSENT.quiet, "turnwire"), {absent: 1}))


def _sections() -> dict[str, str]:
    page = (ROOT.parent / RUNBOOK).read_text(encoding="utf-8")
    heads = re.split(r"^#{2,3} (.+)$", page, flags=re.MULTILINE)
    return dict(zip(heads[1::2], heads[2::2], strict=True))


def test_each_alert_has_its_section_in_the_runbook_and_each_section_its_alert() -> None:
    sections = _sections()
    names = {alert.name for alert in ALERTS}

    assert {head for head in sections if head.startswith("Turnwire")} == names
    for name in names:
        parts = re.findall(r"^\*\*(.+?)\*\*", sections[name], flags=re.MULTILINE)
        assert parts == ["For users.", "Confirm.", "Causes.", "Do.", "Over when"], name


def test_what_an_alert_says_is_whole() -> None:
    said = yaml_file(RULES[1])["groups"][0]["rules"]

    assert len({alert.name for alert in ALERTS}) == len(ALERTS)
    for rule in said:
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        told = rule["annotations"]
        assert told["runbook_url"] == f"{RUNBOOK}#{rule['alert'].lower()}"
        assert set(re.findall(r"\$labels\.(\w+)", told["summary"])) <= {"instance", "reason"}
        assert "$value" in told["description"]


def test_every_metric_is_on_the_dashboard_and_every_name_is_a_metric() -> None:
    registry = CollectorRegistry()
    Telemetry(registry)
    _Supervisor(Settings(), [], registry)
    families = [*registry.collect(), *(each for metric in METRICS for each in metric.collect())]
    known = {f"{family.name}{SUFFIX.get(family.type, '')}" for family in families}
    asked = " ".join(query.expr for row in ROWS for each in row.panels for query in each.queries)
    records = {record.name for record in RECORDS}
    exprs = [record.expr for record in RECORDS]
    exprs += [each.value for alert in ALERTS for way in alert.when for each in way]
    named = {
        re.sub(r"_(bucket|count|sum)$", "", name) if name not in known else name
        for name in re.findall(r"\b[\w:]*turnwire_\w+(?::\w+)?", " ".join([asked, *exprs]))
    }

    assert named <= known | records
    assert {name for name in known if name not in asked} == set()
    assert {name for name in records if name not in " ".join([asked, *exprs])} == set()


def test_panels_explain_themselves_and_lead_to_every_alert() -> None:
    panels = [panel for row in ROWS for panel in row.panels]
    linked = {name for panel in panels for name in panel.alerts}

    assert all(panel.description.endswith(".") for panel in panels)
    assert len({panel.title for panel in panels}) == len(panels)
    assert linked == {alert.name for alert in ALERTS}
