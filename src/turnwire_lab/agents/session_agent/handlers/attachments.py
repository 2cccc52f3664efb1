"""Which files a revision takes (§3): R drops other files without a frame, V sends an error."""

import base64
import binascii
import re
from typing import Final

import msgspec

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import Revision
from turnwire_lab.agents.session_agent.handlers.asked import Attachment

MOST: Final = 8
_R_URL: Final = 12_000_000
_R_TOTAL: Final = 25_000_000
_V_TOTAL: Final = 90_000_000
_DATA: Final = re.compile(r"data:(?P<mime>[^;,]*)(?:;[^,]*)?;base64,", re.IGNORECASE)
_TEXTS: Final = re.compile(r"text/.+|application/(json|xml|yaml|x-yaml|toml|sql)")
_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


class Sifted(msgspec.Struct, frozen=True):
    parts: list[Json]
    """The files that go on, as parts of the user's entry."""
    refused: list[str]
    """Types that the sender gets a complaint about."""


def sift(files: list[Attachment], revision: Revision) -> Sifted:
    late = revision == "V"
    total, parts, refused = 0, list[Json](), list[str]()
    for file in files:
        found = _DATA.match(file.url)  # a remote address is not fetched
        total += len(file.url)
        if found is None or len(parts) == MOST or total > (_V_TOTAL if late else _R_TOTAL):
            continue
        data = file.url[found.end() :]
        mime = _sniffed(data, file.mime) if late else file.mime
        if mime is None:
            refused.append(file.mime)
        elif late or (_early(mime) and len(file.url) <= _R_URL):
            parts.append(_part(mime, data, file.filename))
    return Sifted(parts, refused)


def _early(mime: str) -> bool:
    return mime.startswith(("image/", "audio/"))


def _sniffed(data: str, declared: str) -> str | None:
    """What the bytes are, whatever they are called; None if V does not take it."""
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    for magic, mime in _MAGIC:
        if content.startswith(magic):
            return mime
    if declared.startswith("audio/"):
        return declared
    if not _TEXTS.fullmatch(declared):
        return None
    try:
        content.decode()
    except UnicodeDecodeError:
        return None
    return declared


def _part(mime: str, data: str, filename: str | None) -> Json:
    kind = mime.partition("/")[0]
    part = {
        "type": kind if kind in {"image", "audio"} else "file",
        "data": data,
        "mimeType": mime,
    }
    return part if filename is None else part | {"filename": filename}
