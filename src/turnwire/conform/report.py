"""Formats a `Report`: as a table for people, as JSON, as JUnit's XML, as one line for a badge."""

from collections.abc import Iterator
from typing import Final, assert_never
from xml.etree import ElementTree as ET

import msgspec

from turnwire.conform.run import Report, Result, Verdict

_MARKS: Final = {
    Verdict.PASSED: "passed",
    Verdict.FAILED: "FAILED",
    Verdict.NOT_APPLICABLE: "-",
}


def line(result: Result) -> str:
    """One result as a line of the table."""
    head = f"{_MARKS[result.verdict]:7} {result.name:22}"
    if result.verdict is Verdict.NOT_APPLICABLE:
        return f"{head} {result.reason}"
    return f"{head} {result.took_s:6.2f} s"


def details(report: Report) -> str:
    """All that the table does not say: failures, notes, the sum."""
    lines = [f"\n{failure(result)}" for result in report.of(Verdict.FAILED)]
    noted = [result for result in report.results if result.notes]
    if noted:
        lines += ["", "Notes (habits that a gateway copes with; no failures):"]
        lines += [f"- {result.name}: {note}" for result in noted for note in result.notes]
    return "\n".join([*lines, "", summary(report)])


def summary(report: Report) -> str:
    """Return the sum in one line."""
    passed, failed = len(report.of(Verdict.PASSED)), len(report.of(Verdict.FAILED))
    untried = len(report.of(Verdict.NOT_APPLICABLE))
    verdict = "" if passed or failed else " Nothing was shown."
    return (
        f"{passed} passed, {failed} failed, {untried} not applicable; {report.turns} turns begun."
        + verdict
    )


def badge(report: Report) -> str:
    """Return one line for a badge."""
    passed, failed = len(report.of(Verdict.PASSED)), len(report.of(Verdict.FAILED))
    state = "passing" if report.is_well else "failing"
    return f"turnwire conform ({report.dialect}): {state} {passed}/{passed + failed}"


def as_json(report: Report) -> str:
    """Return the report with all its fields, for programs."""
    return msgspec.json.format(msgspec.json.encode(report)).decode()


def as_junit(report: Report) -> str:
    """Return the report in the XML that CI systems read: a test case for each scenario."""
    suite = ET.Element(
        "testsuite",
        name=f"turnwire conform {report.dialect}",
        tests=str(len(report.results)),
        failures=str(len(report.of(Verdict.FAILED))),
        skipped=str(len(report.of(Verdict.NOT_APPLICABLE))),
        errors="0",
        time=f"{sum(result.took_s for result in report.results):.3f}",
    )
    for result in report.results:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"turnwire.conform.{report.dialect}",
            name=result.name,
            time=f"{result.took_s:.3f}",
        )
        match result.verdict:
            case Verdict.FAILED:
                element = ET.SubElement(case, "failure", message=_printable(result.seen))
                element.text = _printable(failure(result))
            case Verdict.NOT_APPLICABLE:
                ET.SubElement(case, "skipped", message=_printable(result.reason))
            case Verdict.PASSED:
                pass
            case _:
                assert_never(result.verdict)
        if result.notes:
            ET.SubElement(case, "system-out").text = _printable("\n".join(result.notes))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def failure(result: Result) -> str:
    """All that is known of a failure, in a few lines."""
    return "\n".join(_failure_lines(result))


def _failure_lines(result: Result) -> Iterator[str]:
    yield f"FAILED {result.name}"
    yield f"  Tried:    {result.tried}"
    yield f"  Expected: {result.expected}"
    yield f"  Seen:     {result.seen}"
    yield f"  Why:      {result.matters}"
    yield f"  Mend:     {result.mend}"
    if result.words:
        yield f"  Words:    {result.words}"


def _printable(text: str) -> str:
    """The text without characters that XML cannot hold: the agent's words may be in it."""
    return "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in text)
