"""A report, for people and for programs."""

import json

import pytest

from turnwire.doctor.checkup import Report
from turnwire.doctor.findings import Code, Finding
from turnwire.doctor.proxies import Proxy, finding
from turnwire.doctor.report import as_json, as_text


def report(
    *findings: Finding, proxy: str | None = "nginx", turns: int = 2, untried: tuple[str, ...] = ()
) -> Report:
    return Report(
        "https://x.example", proxy, list(findings), {"first_s": 0.12345}, turns, [*untried]
    )


ILL = finding(Code.COALESCED, "in bunches", Proxy.NGINX)
NOTE = finding(Code.HTTP1_ONLY, "TLS chose http/1.1", None)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (report(), "Nothing is wrong."),
        (report(NOTE), "Nothing is wrong."),
        (report(untried=("x",)), "Nothing is wrong in what could be judged."),
        (report(turns=0), "Nothing is wrong that can be seen without a turn."),
        (report(ILL), "Something is wrong."),
        (report(ILL, turns=0), "Something is wrong."),
    ],
)
def test_the_verdict(given: Report, verdict: str) -> None:
    assert verdict in as_text(given).splitlines()


def test_a_finding_is_told_with_its_cause_and_what_to_change() -> None:
    lines = as_text(report(ILL, untried=("a silence",))).splitlines()

    assert lines[0] == "https://x.example: behind nginx; turns begun: 2"
    (mark,) = (line for line in lines if line.endswith(": in bunches"))
    assert mark.partition(" ")[2] == "coalesced: in bunches"
    assert f"  Why:  {ILL.cause}" in lines
    own, general = ILL.mend
    first = lines.index(f"  Mend: In {own}")
    assert own.startswith("nginx: ")
    assert lines[first + 1] == f"        In general: {general}"
    assert "first_s 0.123" in lines
    assert lines[-2:] == ["Not tried:", "- a silence"]


def test_where_the_proxy_is_unknown_each_has_its_line_below_what_to_do() -> None:
    lines = as_text(report(finding(Code.COALESCED, "in bunches", None), proxy=None)).splitlines()
    general, *each = finding(Code.COALESCED, "in bunches", None).mend
    first = lines.index(f"  Mend: {general}")

    assert lines[first + 1 : first + 1 + len(each)] == [f"        In {line}" for line in each]
    assert [line.partition(":")[0] for line in each] == ["nginx", "haproxy", "caddy", "traefik"]


@pytest.mark.parametrize("given", [report(turns=0), report(ILL, turns=0)])
def test_without_a_turn_it_says_how_to_let_it_begin_one(given: Report) -> None:
    last = as_text(given).splitlines()[-1]

    assert "--yes" in last
    assert ("when this is mended" in last) == (not given.is_well)


def test_a_proxy_may_not_say_its_name() -> None:
    assert "behind a proxy that does not say its name, or none" in as_text(report(proxy=None))


def test_programs_get_all_of_it() -> None:
    told = json.loads(as_json(report(ILL)))

    assert told["findings"][0]["code"] == "coalesced"
    assert told["turns"] == 2
    assert told["figures"] == {"first_s": 0.12345}
