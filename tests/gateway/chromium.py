"""Debian's Chromium, driven by playwright, which never downloads one of its own."""

import importlib
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from gateway.needed import lacking

_QUIETLY: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""It runs as root in containers, and is to talk to nobody but us."""


@asynccontextmanager
async def chromium(*flags: str) -> AsyncIterator[Any]:
    """A browser: `await browser.new_page()` has a profile of its own."""
    path = shutil.which("chromium") or lacking("chromium is not installed (`make system` does it)")
    try:
        # Not imported by name: only this needs it, and types are checked without it.
        library = importlib.import_module("playwright.async_api")
    except ModuleNotFoundError:
        lacking("playwright is not installed (`make .venv/.browser` does it)")
    async with library.async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=[*_QUIETLY, *flags])
        try:
            yield browser
        finally:
            await browser.close()
