"""The report in its four forms."""

import json
from xml.etree import ElementTree as ET

from turnwire.conform import report as written
from turnwire.conform.run import Report, Result, Verdict


def result(name: str, verdict: Verdict, **fields: object) -> Result:
    texts = {"tried": "a", "expected": "b", "matters": "c", "mend": "d"}
    return Result(name=name, verdict=verdict, took_s=1.25, **{**texts, **fields})  # type: ignore[arg-type]


REPORT = Report(
    dialect="v2",
    url="ws://h/{session_id}",
    turns=7,
    results=[
        result("good", Verdict.PASSED, notes=["a habit"]),
        result("bad", Verdict.FAILED, seen="a\x1b <mark>"),
        result("other", Verdict.NOT_APPLICABLE, reason="no prompt"),
    ],
)


def test_a_line_for_each_result() -> None:
    assert [written.line(each) for each in REPORT.results] == [
        "passed  good                     1.25 s",
        "FAILED  bad                      1.25 s",
        "-       other                  no prompt",
    ]


def test_the_details_have_failures_notes_and_the_sum() -> None:
    assert written.details(REPORT) == (
        "\nFAILED bad\n  Tried:    a\n  Expected: b\n  Seen:     a\x1b <mark>\n  Why:      c\n"
        "  Mend:     d\n\nNotes (habits that a gateway copes with; no failures):\n"
        "- good: a habit\n\n1 passed, 1 failed, 1 not applicable; 7 turns begun."
    )


def test_a_badge_is_one_line() -> None:
    assert written.badge(REPORT) == "turnwire conform (v2): failing 1/2"


def test_json_has_all_fields() -> None:
    report = json.loads(written.as_json(REPORT))
    assert report["results"][1] == {
        "name": "bad",
        "verdict": "failed",
        "took_s": 1.25,
        "tried": "a",
        "expected": "b",
        "seen": "a\x1b <mark>",
        "matters": "c",
        "mend": "d",
        "words": "",
        "reason": "",
        "notes": [],
    }


def test_junit_has_a_case_for_each_result() -> None:
    suite = ET.fromstring(written.as_junit(REPORT))  # noqa: S314 (it is ours)
    assert suite.attrib == {
        "name": "turnwire conform v2",
        "tests": "3",
        "failures": "1",
        "skipped": "1",
        "errors": "0",
        "time": "3.750",
    }
    good, bad, other = suite
    assert good.findtext("system-out") == "a habit"
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("message") == "a\ufffd <mark>"
    assert "Mend:     d" in (failure.text or "")
    assert other.find("skipped") is not None


def test_a_run_that_showed_nothing_is_not_well() -> None:
    report = Report(dialect="v2", url="", turns=0, results=[REPORT.results[2]])
    assert not report.is_well
    assert written.summary(report).endswith("Nothing was shown.")
