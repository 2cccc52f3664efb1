"""Formats a `Report` as text for people, or as JSON for programs."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from turnwire.doctor.checkup import Report
from turnwire.doctor.findings import Severity
from turnwire.doctor.proxies import Proxy

_UNSEEN: Final = "Nothing is wrong that can be seen without a turn."
_PROXIES: Final = frozenset(proxy.value for proxy in Proxy)
_MARKS = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "note"}


def as_text(report: Report) -> str:
    """The report as text, with about four lines for each finding."""
    behind = report.proxy or "a proxy that does not say its name, or none"
    lines = [f"{report.url}: behind {behind}; turns begun: {report.turns}"]
    for finding in report.findings:
        lines += [
            "",
            f"{_MARKS[finding.severity]} {finding.code.value}: {finding.seen}",
            f"  Why:  {finding.cause}",
            *_remedies(finding.mend),
        ]
    if report.figures:
        lines += ["", ", ".join(f"{name} {value:.3g}" for name, value in report.figures.items())]
    lines += ["", _verdict(report)]
    if report.untried:
        lines += ["Not tried:", *(f"- {item}" for item in report.untried)]
    if not report.turns:
        condition = "" if report.is_well else "when this is mended, "
        lines.append(
            f"No turn was begun: {condition}--yes lets the doctor send two prompts to the session."
        )
    return "\n".join(lines)


def _remedies(mend: Sequence[str]) -> Iterator[str]:
    """What to do, one line each. The line for a proxy begins with the proxy's name."""
    for index, remedy in enumerate(mend):
        is_line_of_proxy = remedy.partition(":")[0] in _PROXIES
        where = "In " if is_line_of_proxy else "In general: " if index else ""
        yield f"  {'     ' if index else 'Mend:'} {where}{remedy}"


def _verdict(report: Report) -> str:
    if not report.is_well:
        return "Something is wrong."
    if not report.turns:
        return _UNSEEN
    return "Nothing is wrong in what could be judged." if report.untried else "Nothing is wrong."


def as_json(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report)).decode()
