"""A report for a person, and for a program."""

import msgspec

from turnwire.doctor.examination import Report
from turnwire.doctor.finding import Severity

_MARKS = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "note"}


def as_text(report: Report) -> str:
    """Each finding in four lines."""
    behind = report.proxy or "a proxy that does not say its name, or none"
    lines = [f"{report.url}: behind {behind}; turns begun: {report.turns}"]
    for found in report.findings:
        lines += [
            "",
            f"{_MARKS[found.severity]} {found.code.value}: {found.seen}",
            f"  Why:  {found.cause}",
            *(f"  {'Mend' if not at else '   or'}: {line}" for at, line in enumerate(found.mend)),
        ]
    if report.figures:
        lines += ["", ", ".join(f"{name} {value:.3g}" for name, value in report.figures.items())]
    lines += ["", "Nothing is wrong." if report.is_well else "Something is wrong."]
    if not report.turns:
        lines.append("No turn was begun: --yes lets the doctor send two prompts to the session.")
    return "\n".join(lines)


def as_json(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report)).decode()
