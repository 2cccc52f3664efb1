"""The reference agent's tools, without sockets: they really compute, look and search."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from turnwire_lab.agents.common.calculator import calculate
from turnwire_lab.agents.common.clock import tell_time
from turnwire_lab.agents.common.search import search
from turnwire_lab.agents.common.tool import ToolFailed
from turnwire_lab.agents.common.toolbox import toolbox, utc_now


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("12*7", 84),
        ("-3 * 7 % 4", 3),
        ("(1 + 2) ** 3 // 2", 13),
        ("1/4", 0.25),
        ("6/2", 3),
        ("+5 - -5", 10),
        ("2**64", "18446744073709551616"),
    ],
)
def test_arithmetic(expression: str, value: object) -> None:
    assert calculate({"expression": expression}) == {"expression": expression, "value": value}


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("1/0", "Division by zero"),
        ("1 % 0", "Division by zero"),
        ("9**9**9", "too large"),
        ("9.9**999", "too large"),
        ("1e308*10", "too large"),
        ("10**299*10**299", "too large"),
        ("(-8)**0.5", "not a real number"),
        ("1 +", "cannot read"),
        ("", "cannot read"),
        ("1\x002", "cannot read"),
        ("True + 1", "Only numbers"),
        ("__import__('os')", "nothing else"),
        ("[1][0]", "nothing else"),
        ("1 << 9", "nothing else"),
        ("~1", "nothing else"),
        ("1j", "nothing else"),
        ("1+" * 200 + "1", "at most 200"),
        ("(" * 199, "cannot read"),
    ],
)
def test_what_the_calculator_will_not_do(expression: str, why: str) -> None:
    with pytest.raises(ToolFailed, match=why):
        calculate({"expression": expression})


def noon() -> datetime:
    return datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("place", "zone", "time", "offset"),
    [
        ("Tokyo", "Asia/Tokyo", "21:00", "+0900"),
        ("new york", "America/New_York", "07:00", "-0500"),
        ("europe/berlin", "Europe/Berlin", "13:00", "+0100"),
        ("San Francisco", "America/Los_Angeles", "04:00", "-0800"),
        ("UTC", "UTC", "12:00", "+0000"),
    ],
)
def test_the_time_somewhere(place: str, zone: str, time: str, offset: str) -> None:
    told = tell_time({"place": place}, now=noon)

    day = "Saturday, 21 November 2026"
    assert told == {"zone": zone, "time": time, "day": day, "utcOffset": offset}


@pytest.mark.parametrize("place", ["Atlantis", "../../etc/passwd", ""])
def test_a_place_nobody_knows(place: str) -> None:
    with pytest.raises(ToolFailed, match="no time zone"):
        tell_time({"place": place}, now=noon)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "decisions").mkdir(parents=True)
    (tmp_path / "README.md").write_text("# Tour\n\nA keepalive keeps proxies awake.\n")
    (tmp_path / "docs" / "time.md").write_text(
        "intro\n# Keepalive\n\nA comment each 15 s.\n## Other\n\nnothing\n"
    )
    (tmp_path / "docs" / "decisions" / "one.md").write_text(f"# One\n{'keepalive ' * 40}\n")
    (tmp_path / "secret.md").write_text("keepalive keepalive")
    return tmp_path


def test_sections_are_ranked_by_how_often_the_words_come_up(checkout: Path) -> None:
    found = search({"query": "what is the keepalive"}, root=checkout)

    assert found["pages"] == 3
    assert [(hit["page"], hit["heading"], hit["score"]) for hit in found["hits"]] == [
        ("docs/decisions/one.md", "One", 40),
        ("docs/time.md", "Keepalive", 5),
        ("README.md", "Tour", 1),
    ]
    assert len(found["hits"][0]["excerpt"]) == 160
    assert found["hits"][1]["excerpt"] == "A comment each 15 s."


@pytest.mark.parametrize(
    ("line", "excerpt"),
    [
        ("| 120 s | a keepalive \\| more |", "120 s; a keepalive \\| more"),
        ("* A keepalive each 15 s.", "A keepalive each 15 s."),
        ("2. A keepalive", "A keepalive"),
        ("-keepalive", "-keepalive"),
    ],
)
def test_an_excerpt_has_no_marks_of_tables_and_lists(
    tmp_path: Path, line: str, excerpt: str
) -> None:
    (tmp_path / "README.md").write_text(f"# Tour\n\n{line}\n")
    (hit,) = search({"query": "keepalive"}, root=tmp_path)["hits"]
    assert hit["excerpt"] == excerpt


def test_nothing_is_found_where_there_is_nothing(tmp_path: Path) -> None:
    assert search({"query": "keepalive"}, root=tmp_path) == {
        "query": "keepalive",
        "pages": 0,
        "hits": [],
    }


def test_a_search_for_no_word_fails(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="at least one word"):
        search({"query": " ? "}, root=tmp_path)


def test_the_toolbox_holds_all_three(tmp_path: Path) -> None:
    tools = toolbox(now=utc_now, docs=tmp_path)

    assert sorted(tools) == ["calculator", "clock", "search"]
    assert tools["clock"]({})["zone"] == "UTC"
    assert tools["search"]({"query": "x1"})["hits"] == []
