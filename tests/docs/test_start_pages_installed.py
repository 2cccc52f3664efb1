"""The pages docs/start-*.md whose agents need an environment of their own, or seconds, are done."""

from pathlib import Path

import pytest

from docs.start_page import do

PAGES = ("start-acp", "start-langgraph", "start-no-agent", "start-pydantic-ai")

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_done_word_for_word(page: str, tmp_path: Path) -> None:
    do(page, tmp_path)
