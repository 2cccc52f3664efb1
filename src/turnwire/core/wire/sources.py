"""The web pages that an answer cites: each of them once, whatever number of times it is cited."""

import re
from typing import Final

from turnwire.core.bounds import ID_MAX
from turnwire.core.events import SourceUrl
from turnwire.core.wire.frame_stats import FrameStats

SOURCES_MAX: Final = 256
"""Most pages of one turn."""

_URL_MAX: Final = 16 * ID_MAX
_PAGE: Final = re.compile(r"https?://", re.IGNORECASE)


class Sources:
    """Pages are collected while a text is written, since a page in the middle would split it."""

    def __init__(self, frame_stats: FrameStats) -> None:
        self._urls: set[str] = set()
        self._waiting: list[SourceUrl] = []
        self._frame_stats = frame_stats

    def add(self, url: str, title: str | None = None) -> None:
        """Note a page, unless it is known. What is no page is left out."""
        if url in self._urls:
            return
        if not _PAGE.match(url) or len(url) > _URL_MAX or len(self._urls) >= SOURCES_MAX:
            self._frame_stats.count_left_out("citation", len(url))
            return
        self._urls.add(url)
        shown_title = title[:ID_MAX] if title else None
        self._waiting.append(SourceUrl(f"source-{len(self._urls)}", url, shown_title))

    def take(self) -> list[SourceUrl]:
        """Return the pages since the last time."""
        waiting, self._waiting = self._waiting, []
        return waiting
