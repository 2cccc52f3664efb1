"""A report for a person, and for a program."""

from typing import Final

import msgspec

from turnwire.doctor.examination import Report
from turnwire.doctor.finding import Severity

_UNSEEN: Final = "Nothing is wrong that can be seen without a turn."
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
    lines += ["", _verdict(report)]
    if report.untried:
        lines += ["Not tried:", *(f"- {what}" for what in report.untried)]
    if not report.turns:
        when = "" if report.is_well else "when this is mended, "
        lines.append(
            f"No turn was begun: {when}--yes lets the doctor send two prompts to the session."
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
