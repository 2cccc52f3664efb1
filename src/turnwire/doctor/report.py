"""Formats a `Report` as text for people, or as JSON for programs."""

from typing import Final

import msgspec

from turnwire.doctor.checkup import Report
from turnwire.doctor.findings import Severity

_UNSEEN: Final = "Nothing is wrong that can be seen without a turn."
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
            *(
                f"  {'Mend' if not index else '   or'}: {line}"
                for index, line in enumerate(finding.mend)
            ),
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


def _verdict(report: Report) -> str:
    if not report.is_well:
        return "Something is wrong."
    if not report.turns:
        return _UNSEEN
    return "Nothing is wrong in what could be judged." if report.untried else "Nothing is wrong."


def as_json(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report)).decode()
