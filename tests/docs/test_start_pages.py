"""The pages docs/start-*.md have no dead ends; those that need nothing but this tree are done.

The others are done in test_start_pages_installed.py.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from docs.start_page import BLOCK, PAGES, ROOT, do, text
from gateway.waiting import until
from support.shell import run
from turnwire_lab.process import inherited

HERE: Final = ("start-openai", "start-websocket")


@pytest.mark.sockets
@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", HERE)
def test_a_page_is_done_word_for_word(page: str, tmp_path: Path) -> None:
    do(page, tmp_path)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_a_line_that_fails_ends_the_run_and_nothing_is_left(tmp_path: Path) -> None:
    ran = run("sleep 600 & echo $!; echo no >&2; false; echo more", tmp_path, inherited())

    assert (ran.returncode, ran.stderr) == (1, "no\n")
    await until(lambda: not runs(int(ran.stdout)))


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_puts_into_the_background_it_ends(page: str) -> None:
    lines = "".join(block for _, block in BLOCK.findall(text(page)))
    started = re.findall(r"& (\w+)=\$!$", lines, re.MULTILINE)
    restarted, ended = re.findall(r"^kill (.+)$", lines, re.MULTILINE)

    assert started
    assert restarted == "$gateway; wait $gateway"
    assert {f"${name}" for name in started} == set(ended.split())


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(PAGES) == 6
    assert [page for page in PAGES if f"(docs/{page}.md)" not in readme] == []
