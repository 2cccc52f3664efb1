"""Chunks for files that the agent made and for web pages that it used as sources.

Use: `part_chunks(part)` returns the chunk of a part; `is_shown(part)` checks its URL, and
`is_file(url)` that of a file.

Clients show the URLs as links and pictures. So only URLs with a scheme that cannot run code
are sent; a part with another scheme is dropped.
"""

import re
from typing import assert_never

from msgspec import UNSET

from turnwire.core import safe_json
from turnwire.core.body.client_copy import PartKind
from turnwire.core.events import FilePart, SourceUrl
from turnwire.core.ui_stream import chunks

_FILE = re.compile(r"https?://|data:", re.IGNORECASE)
_PAGE = re.compile(r"https?://", re.IGNORECASE)


def is_file(url: str) -> bool:
    """Whether the URL has a scheme that is allowed for files: `http:`, `https:` or `data:`."""
    return _FILE.match(url) is not None


def is_shown(part: FilePart | SourceUrl) -> bool:
    """Whether clients are sent the URL of a file or a source."""
    if isinstance(part, FilePart):
        return is_file(part.url)
    return _PAGE.match(part.url) is not None


def part_chunks(part: FilePart | SourceUrl) -> list[chunks.Chunk]:
    """Return the chunk of a file or a source; none if the scheme of its URL is not allowed."""
    if not is_shown(part):
        return []
    match part:
        case FilePart(url, mime):
            return [chunks.File(safe_json.join_surrogates(url), safe_json.join_surrogates(mime))]
        case SourceUrl(source_id, url, title):
            sent_title = UNSET if title is None else safe_json.join_surrogates(title)
            return [
                chunks.SourceUrl(
                    safe_json.join_surrogates(source_id), safe_json.join_surrogates(url), sent_title
                )
            ]
        case _:
            assert_never(part)


def part_kind(part: FilePart | SourceUrl) -> PartKind:
    """Return how the part counts in a client's copy."""
    match part:
        case FilePart():
            return PartKind.FILES
        case SourceUrl():
            return PartKind.SOURCES
        case _:
            assert_never(part)
