"""Whatever the code cites of the wire pages stands there.

`page 5.7` and `§5.7` are sections of docs/wire/session-agent.md, `page 9, trap 16` and `§9.16` an
item of its section 9, `page 1, row 14` a row of its table; `wire/ui-message-stream 4.1` is a
section of the other page.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ROOT / "docs/wire"
CODE: Final = ("src/turnwire", "src/turnwire_lab", "tests", "docs")
CITED: Final = re.compile(
    r"(?<!\w)(?:page |§)(?P<agent>\d+(?:\.\d+)*)(?:, (?P<kind>trap|row) (?P<item>\d+))?"
    r"|wire/ui-message-stream(?:\.md)? (?P<stream>\d+(?:\.\d+)?)"
)
PRIVATE: Final = re.compile(r"\bspec(?:-\w+)?(?:\.md)? section|\bshared/(?:wire|spec)")


def files() -> Iterator[Path]:
    for top in CODE:
        for suffix in ("py", "ts", "tsx", "md"):
            for path in (ROOT / top).rglob(f"*.{suffix}"):
                if "node_modules" not in path.parts and PAGES not in path.parents:
                    yield path


def sections(page: str) -> set[str]:
    """The numbers of its headings; `9.16` is an item of section 9, `1:14` a row of section 1."""
    found: set[str] = set()
    section = ""
    for line in (PAGES / f"{page}.md").read_text().splitlines():
        if heading := re.match(r"#+ (\d+(?:\.\d+)?)[. ]", line):
            section = heading[1]
            found.add(section)
        elif item := re.match(r"(\d+)\. ", line):
            found.add(f"{section}.{item[1]}")
        elif row := re.match(r"\| (\d+) \|", line):
            found.add(f"{section}:{row[1]}")
    return found


def cited(text: str) -> Iterator[tuple[str, str]]:
    for found in CITED.finditer(text):
        if found["stream"]:
            yield "ui-message-stream", found["stream"]
            continue
        mark = {"trap": ".", "row": ":", None: ""}[found["kind"]]
        yield "session-agent", found["agent"] + mark + (found["item"] or "")


def test_every_citation_of_a_wire_page_stands_there() -> None:
    known = {page: sections(page) for page in ("session-agent", "ui-message-stream")}
    missing = [
        f"{path.relative_to(ROOT)}: {page} {section}"
        for path in files()
        for page, section in cited(path.read_text())
        if section not in known[page]
    ]

    assert missing == []


def test_there_are_citations() -> None:
    assert sum(1 for path in files() for _ in cited(path.read_text())) > 150


def test_nothing_is_cited_that_is_not_in_the_repository() -> None:
    private = [str(path.relative_to(ROOT)) for path in files() if PRIVATE.search(path.read_text())]

    assert [path for path in private if path != "tests/docs/test_citations.py"] == []
