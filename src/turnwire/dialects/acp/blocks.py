"""Blocks of content: those of a prompt, and what clients are shown of the agent's."""

import binascii
import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Raw

from turnwire.core.body.attachments import Attachment
from turnwire.core.events import Event, FilePart, SourceUrl
from turnwire.core.requests import PromptRequest
from turnwire.core.wire import lenient
from turnwire.dialects.acp import frames
from turnwire.dialects.acp.abilities import Abilities
from turnwire.dialects.acp.frames import Media

_DATA: Final = re.compile(r"data:[^,]*;base64,", re.ASCII)
_TEXT: Final = re.compile(
    r"text/.+"
    r"|application/(?:json|xml|yaml|toml|sql|javascript|x-(?:sh|yaml|toml|python|ndjson))"
    r"|.+\+(?:json|xml|yaml)"
)
"""Types of files that are text. Whether one is, its bytes decide."""
_HTTP: Final = re.compile(r"https?://", re.IGNORECASE)
_ANY_TYPE: Final = "application/octet-stream"


def of_prompt(request: PromptRequest, able: Abilities) -> Sequence[Any] | None:
    """The blocks of a prompt; None if the agent does not take one of its files."""
    blocks: list[Any] = [{"type": "text", "text": request.text}] if request.text else []
    for number, attachment in enumerate(request.attachments, 1):
        block = _of_file(attachment, f"file-{number}", able)
        if block is None:
            return None
        blocks.append(block)
    return blocks


def shown(kind: str, block: Raw) -> Event | None:
    """The file or the source in a block that is no text; None if it has nothing to show."""
    media = lenient.field(frames.media, block) or Media()
    mime = media.mime_type or _ANY_TYPE
    if kind in {"image", "audio"} and media.data:
        return FilePart(f"data:{mime};base64,{media.data}", mime)
    if kind == "image" and media.uri and _HTTP.match(media.uri):
        return FilePart(media.uri, mime)
    if kind == "resource_link" and media.uri and _HTTP.match(media.uri):
        return SourceUrl(media.uri, media.uri, media.name)
    return None


def _of_file(file: Attachment, name: str, able: Abilities) -> Any:
    name = file.filename or name
    found = _DATA.match(file.url)
    if found is None:  # every agent takes links
        return {"type": "resource_link", "uri": file.url, "name": name, "mimeType": file.mime}
    data = file.url[found.end() :]
    kind = file.mime.partition("/")[0]
    if (kind == "image" and able.takes_images) or (kind == "audio" and able.takes_audio):
        return {"type": kind, "mimeType": file.mime, "data": data}
    if not able.takes_resources:
        return None
    text = _text(file.mime, data)
    content = {"blob": data} if text is None else {"text": text}
    resource = {"uri": f"attachment:{name}", "mimeType": file.mime, **content}
    return {"type": "resource", "resource": resource}


def _text(mime: str, data: str) -> str | None:
    """The text of a file; None if it is none. Agents read a text, and few of them read a blob."""
    if _TEXT.fullmatch(mime) is None:
        return None
    try:
        return binascii.a2b_base64(data).decode()
    except ValueError:
        return None
