"""Blocks of content: those of a prompt, and what clients are shown of the agent's."""

import re
from collections.abc import Sequence
from typing import Any, Final

from turnwire.core.body.attachments import Attachment
from turnwire.core.events import Event, FilePart, SourceUrl
from turnwire.core.requests import PromptRequest
from turnwire.dialects.acp.frames import Block, PromptAbilities

_DATA: Final = re.compile(r"data:[^,]*;base64,", re.ASCII)
_HTTP: Final = re.compile(r"https?://", re.IGNORECASE)
_ANY_TYPE: Final = "application/octet-stream"


def of_prompt(request: PromptRequest, abilities: PromptAbilities) -> Sequence[Any] | None:
    """The blocks of a prompt; None if the agent does not take one of its files."""
    blocks: list[Any] = [{"type": "text", "text": request.text}] if request.text else []
    for number, attachment in enumerate(request.attachments, 1):
        block = _of_file(attachment, f"file-{number}", abilities)
        if block is None:
            return None
        blocks.append(block)
    return blocks


def shown(block: Block) -> Event | None:
    """The file or the source in a block that is no text; None if it has nothing to show."""
    mime = block.mime_type or _ANY_TYPE
    if block.type in {"image", "audio"} and block.data:
        return FilePart(f"data:{mime};base64,{block.data}", mime)
    if block.type == "image" and block.uri and _HTTP.match(block.uri):
        return FilePart(block.uri, mime)
    if block.type == "resource_link" and block.uri and _HTTP.match(block.uri):
        return SourceUrl(block.uri, block.uri, block.name)
    return None


def _of_file(file: Attachment, name: str, abilities: PromptAbilities) -> Any:
    name = file.filename or name
    found = _DATA.match(file.url)
    if found is None:  # every agent takes links
        return {"type": "resource_link", "uri": file.url, "name": name, "mimeType": file.mime}
    data = file.url[found.end() :]
    kind = file.mime.partition("/")[0]
    if (kind == "image" and abilities.image) or (kind == "audio" and abilities.audio):
        return {"type": kind, "mimeType": file.mime, "data": data}
    if abilities.embedded_context:
        resource = {"uri": f"attachment:{name}", "mimeType": file.mime, "blob": data}
        return {"type": "resource", "resource": resource}
    return None
