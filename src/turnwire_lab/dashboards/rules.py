"""The rules as Prometheus reads them."""

import importlib
from typing import Any, Final

import msgspec
from msgspec import Struct

from turnwire_lab.dashboards.alert import Alert, Record
from turnwire_lab.dashboards.alerts import ALERTS
from turnwire_lab.dashboards.recording import RECORDS

HEAD: Final = "# Made by `make dashboards` from src/turnwire_lab/dashboards; do not edit.\n"


class _Recording(Struct):
    record: str
    expr: str


class _Annotations(Struct):
    summary: str
    description: str
    runbook_url: str


class _Alerting(Struct):
    alert: str
    expr: str
    lasts: str = msgspec.field(name="for")
    labels: dict[str, str]
    annotations: _Annotations


class _Group(Struct):
    name: str
    rules: list[_Recording | _Alerting]


class _File(Struct):
    groups: list[_Group]


def recording() -> str:
    """The file of recording rules."""
    return _yaml("turnwire-recording", [_record(each) for each in RECORDS])


def alerting() -> str:
    """The file of alerts."""
    return _yaml("turnwire-alerts", [_alert(each) for each in ALERTS])


def _yaml(name: str, rules: list[_Recording | _Alerting]) -> str:
    yaml: Any = importlib.import_module("yaml")  # untyped; here as lines that a person can read

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]  # of an untyped class
        pass

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    file = msgspec.to_builtins(_File([_Group(name, rules)]))
    written: str = yaml.dump(file, Dumper=Dumper, sort_keys=False, width=100)
    return HEAD + written


def _record(record: Record) -> _Recording | _Alerting:
    return _Recording(record.name, record.expr)


def _alert(alert: Alert) -> _Recording | _Alerting:
    return _Alerting(
        alert=alert.name,
        expr=alert.expr,
        lasts=alert.lasts,
        labels={"severity": alert.severity.value},
        annotations=_Annotations(alert.summary, alert.annotation, alert.runbook_url),
    )
