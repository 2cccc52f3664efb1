"""The result of a call, from MCP's JSON to what a tool returns."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from turnwire_agent.mcp.errors import ProtocolError
from turnwire_agent.mcp.settings import Bounds
from turnwire_agent.tools.contract import Media, Output, ToolFailed

Json = Mapping[str, Any]


def result_of(answer: Json, bounds: Bounds, *, structured: bool) -> Any:
    """Return what the tool returns: a text, a JSON value, or parts with pictures.

    Args:
        answer: The result of `tools/call`, as on the wire.
        bounds: What is longer is cut, and a text in its place says so.
        structured: The tool has an output schema: its structured content comes before its texts,
            which repeat it.

    Raises:
        ToolFailed: the tool says that it failed, with its text.
        ProtocolError: the content is none.
    """
    content = answer.get("content", [])
    if not isinstance(content, list) or not all(isinstance(block, Mapping) for block in content):
        raise ProtocolError("a result without content")
    parts = list(_bounded(content, bounds))
    text = cut("\n".join(part for part in parts if isinstance(part, str)), bounds.result_chars)
    if answer.get("isError") is True:
        raise ToolFailed(text or "The tool failed, and does not say why.")
    media = [part for part in parts if isinstance(part, Media)]
    value = answer.get("structuredContent")
    if structured and value is not None:
        as_json = msgspec.json.encode(value).decode()
        if not media and len(as_json) <= bounds.result_chars:
            return value
        text = cut(as_json, bounds.result_chars)
    if not media:
        return text
    return Output((*((text,) if text else ()), *media))


def cut(text: str, chars: int) -> str:
    """A text of at most so many characters, and a line that counts those left out."""
    if len(text) <= chars:
        return text
    return f"{text[:chars]}\n[{len(text) - chars} more characters were left out]"


def _bounded(content: list[Json], bounds: Bounds) -> Iterator[str | Media]:
    """The parts of a result; a text says which pictures are too large."""
    size = 0
    for block in content:
        part = _part(block)
        if isinstance(part, Media):
            size += len(part.data)
            if size > bounds.media_bytes:
                part = f"[{part.media_type} of {len(part.data)} bytes was left out: too large]"
        yield part


def _part(block: Json) -> str | Media:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "image":
        return _media(block.get("mimeType"), block.get("data"), "image")
    if kind == "resource_link":
        return _link(block)
    if kind == "resource" and isinstance(block.get("resource"), Mapping):
        return _resource(block["resource"])
    return f"[content of the type {str(kind)[:60]!a} was left out]"


def _link(block: Json) -> str:
    """A resource that the result points at: the model may name it to another tool."""
    name = block.get("title") or block.get("name") or "Resource"
    kind = f" ({block['mimeType']})" if block.get("mimeType") else ""
    about = f": {block['description']}" if block.get("description") else ""
    return f"{name} <{block.get('uri', '')}>{kind}{about}"


def _resource(resource: Json) -> str | Media:
    if isinstance(resource.get("text"), str):
        return str(resource["text"])
    media_type = str(resource.get("mimeType") or "application/octet-stream")
    if media_type.startswith("image/"):
        return _media(media_type, resource.get("blob"), "resource")
    return f"[{media_type} was left out] <{resource.get('uri', '')}>"


def _media(media_type: Any, data: Any, kind: str) -> Media:
    try:
        return Media(str(media_type or "image/png"), base64.b64decode(data, validate=True))
    except (binascii.Error, TypeError, ValueError) as exc:
        raise ProtocolError(f"a result whose {kind} is not base64") from exc
