"""Files that the agent made and pages that it drew on.

Clients show their URLs as links and pictures, so only schemes that run nothing
pass; a part with another one is dropped.
"""

import re
from typing import assert_never

from msgspec import UNSET

from turnwire.core import chunks, harmless
from turnwire.core.events import FilePart, SourceUrl

_FILE = re.compile(r"https?://|data:", re.IGNORECASE)
_PAGE = re.compile(r"https?://", re.IGNORECASE)


def is_file(url: str) -> bool:
    """Whether this is the URL of a file that may be shown."""
    return _FILE.match(url) is not None


def told(part: FilePart | SourceUrl) -> list[chunks.Chunk]:
    """The chunk of a file or a source; none if its URL is of a scheme that does not pass."""
    match part:
        case FilePart(url, mime) if is_file(url):
            return [chunks.File(harmless.mend(url), harmless.mend(mime))]
        case SourceUrl(source_id, url, title) if _PAGE.match(url):
            shown = UNSET if title is None else harmless.mend(title)
            return [chunks.SourceUrl(harmless.mend(source_id), harmless.mend(url), shown)]
        case FilePart() | SourceUrl():
            return []
        case _:
            assert_never(part)
