"""Sources of an answer: each page is told once, whatever the number of its citations."""

from typing import Any, Final

from turnwire_agent.llm.events import Event, Skipped, Source
from turnwire_agent.llm.shapes.fields import text

SOURCES_MAX: Final = 256
"""Of one answer. Any more are told as one `Skipped`."""
URL_CHARS: Final = 8192
TITLE_CHARS: Final = 500
SCHEMES: Final = ("http://", "https://")
"""What a client may show as a link. Another one, as `javascript:`, does something when it is."""


class Sources:
    """The sources of one answer."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._noted: dict[str, str] = {}

    def new(self, url: str, title: str = "") -> list[Event]:
        """A source, unless it was told before. One that cannot be shown is skipped."""
        if url in self._known or len(self._known) > SOURCES_MAX:
            return []
        self._known.add(url)
        if len(self._known) > SOURCES_MAX or not _is_shown(url):
            return [Skipped("source")]
        return [Source(url, title[:TITLE_CHARS])]

    def of(self, citation: dict[str, Any]) -> list[Event]:
        """A citation with a URL and perhaps a title. Any other is skipped by its type."""
        if url := text(citation, "url"):
            return self.new(url, text(citation, "title"))
        return [Skipped(text(citation, "type")[:64])]

    def note(self, pages: object) -> None:
        """Keep a list until the answer ends: servers repeat it, and some name the titles late.

        Args:
            pages: URLs, or objects with `url` and perhaps `title`. What is neither is none.
        """
        for page in pages if isinstance(pages, list) else ():
            found: dict[str, Any] = page if isinstance(page, dict) else {"url": page}
            url, title = found.get("url"), found.get("title")
            if not isinstance(url, str) or not url:
                continue
            known = self._noted.get(url)
            if known or (known is None and len(self._noted) > SOURCES_MAX):
                continue
            self._noted[url] = title[:TITLE_CHARS] if isinstance(title, str) else ""

    def noted(self) -> list[Event]:
        """The sources that were noted, in their order."""
        return [event for url, title in self._noted.items() for event in self.new(url, title)]


def _is_shown(url: str) -> bool:
    return len(url) <= URL_CHARS and url[:8].lower().startswith(SCHEMES)
