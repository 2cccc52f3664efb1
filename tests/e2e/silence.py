"""A line that falls silent for a page whose clock a test has installed."""

from contextlib import suppress
from typing import Final

import pytest
from playwright.async_api import Locator, Page, expect

SILENT: Final = "The connection fell silent"
JUMPS: Final = 4
SHOWN_MS: Final = 10_000
"""After so long another jump is tried. It is long, since the page looks for the turn after the
notice: a jump would end that look, which is another notice."""


async def fall_silent(page: Page, notice: Locator, jump_ms: int) -> None:
    """Let the page's clock jump until it says that its line is silent.

    Whoever calls has made the line silent, and jumps further than the page waits. A jump is in vain
    while the page reads what was still on its way: that is a sign of life.
    """
    for _ in range(JUMPS):
        await page.clock.fast_forward(jump_ms)
        with suppress(AssertionError):
            await expect(notice).to_contain_text(SILENT, timeout=SHOWN_MS)
            return
    pytest.fail(f"no such notice after {JUMPS} jumps: {await notice.all_inner_texts()}")
