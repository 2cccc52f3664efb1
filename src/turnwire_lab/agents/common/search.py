"""The search: the project's own pages, by section, ranked by how often the words come up."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import ToolFailed

MAX_HITS: Final = 3
EXCERPT: Final = 160
HEADING_WEIGHT: Final = 5

_EMPTY_WORDS: Final = re.compile(r"an?|and|are|for|how|in|is|of|on|or|the|this|to|what|with")


@dataclass(frozen=True, slots=True)
class Section:
    page: str
    heading: str
    lines: tuple[str, ...]


def search(args: Json, *, root: Path) -> Json:
    query = str(args.get("query", "")).strip()
    words = [w for w in re.findall(r"\w+", query.lower()) if not _EMPTY_WORDS.fullmatch(w)]
    if not words:
        raise ToolFailed("Tell me at least one word to search for.")
    # From the start of a word: "time" is in "timeout" too, but "the" is not in "other".
    terms = [re.compile(rf"(?<![^\W_]){word}") for word in words]
    pages = _pages(root)
    sections = [section for page in pages for section in _sections(page, root)]
    # Page and heading break a tie, so that the same query always gives the same answer.
    ranked = sorted(
        ((_score(s, terms), s) for s in sections),
        key=lambda scored: (-scored[0], scored[1].page, scored[1].heading),
    )
    hits = [
        {"page": s.page, "heading": s.heading, "excerpt": _excerpt(s, terms), "score": score}
        for score, s in ranked[:MAX_HITS]
        if score
    ]
    return {"query": query, "pages": len(pages), "hits": hits}


def _pages(root: Path) -> list[Path]:
    readme = root / "README.md"
    return [p for p in (readme, *sorted(root.glob("docs/**/*.md"))) if p.is_file()]


def _sections(page: Path, root: Path) -> Iterator[Section]:
    name = page.relative_to(root).as_posix()
    heading, lines = name, list[str]()
    for line in page.read_text(encoding="utf-8", errors="replace").splitlines():
        if title := re.match(r"#{1,6}\s+(.+)", line):
            yield Section(name, heading, tuple(lines))
            heading, lines = title[1].strip(), []
        else:
            lines.append(line)
    yield Section(name, heading, tuple(lines))


def _score(section: Section, terms: list[re.Pattern[str]]) -> int:
    heading, body = section.heading.lower(), "\n".join(section.lines).lower()
    return sum(HEADING_WEIGHT * len(t.findall(heading)) + len(t.findall(body)) for t in terms)


def _excerpt(section: Section, terms: list[re.Pattern[str]]) -> str:
    """The first line with a term in it, else the first that is not empty."""
    lines = [line.strip() for line in section.lines if line.strip()]
    hit = next((line for line in lines if any(t.search(line.lower()) for t in terms)), None)
    line = _spoken(hit or next(iter(lines), ""))
    return line if len(line) <= EXCERPT else line[: EXCERPT - 1] + "…"


def _spoken(line: str) -> str:
    """The line without the marks of a list or a table's row, which make no sense on their own."""
    if line.startswith("|"):
        cells = re.split(r"(?<!\\)\|", line.strip("|"))
        return "; ".join(cell.strip() for cell in cells if cell.strip())
    return re.sub(r"^(?:[-*+]|\d+\.)\s+", "", line)
