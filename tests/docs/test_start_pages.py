"""The pages docs/start-*.md have no dead ends; those that need nothing but this tree are done.

The others are done in test_start_pages_installed.py.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from docs.start_page import BLOCK, PAGES, ROOT, do, text

HERE: Final = ("start-openai", "start-websocket")


@pytest.mark.sockets
@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", HERE)
def test_a_page_is_done_word_for_word(page: str, tmp_path: Path) -> None:
    do(page, tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_puts_into_the_background_it_ends(page: str) -> None:
    lines = "".join(block for _, block in BLOCK.findall(text(page)))
    started = re.findall(r"& (\w+)=\$!$", lines, re.MULTILINE)
    (ended,) = re.findall(r"^kill (.+)$", lines, re.MULTILINE)

    assert started
    assert {f"${name}" for name in started} == set(ended.split())


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(PAGES) == 6
    assert [page for page in PAGES if f"(docs/{page}.md)" not in readme] == []
