"""The events of an answer as parts: JSON in the words of the AI SDK's `LanguageModelV4StreamPart`.

The native blocks of an answer travel in `providerMetadata.turnwire.native` of an empty block of
reasoning, just before the end: a client of the AI SDK keeps a block's metadata in its history and
sends it back as `providerOptions`, and nothing else of an answer would carry them there.
"""

import base64
from functools import singledispatch
from typing import Any, Final

import msgspec

from turnwire_agent.llm.events import (
    Begun,
    Event,
    FileMade,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    Skipped,
    Source,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model

Part = dict[str, Any]

NATIVE_ID: Final = "native"
"""Of the block that has the native blocks. Blocks of words have numbers."""


def first_part(losses: tuple[Loss, ...]) -> Part:
    """What comes before the answer: what of the request the provider will not see."""
    warnings = [
        {"type": "unsupported", "feature": loss.where, "details": f"{loss.what}: {loss.why}"}
        for loss in losses
    ]
    return {"type": "stream-start", "warnings": warnings}


def parts(event: Event, model: Model) -> list[Part]:
    """What an event is for a client. Most are one part; what is skipped is none."""
    if isinstance(event, Finish):
        finish = {
            "type": "finish",
            "finishReason": {"unified": event.reason, "raw": event.raw},
            "usage": usage(event.usage),
        }
        return [*_native(event, model), finish]
    return _part(event)


@singledispatch
def _part(event: Event) -> list[Part]:
    raise TypeError(type(event).__name__)


@_part.register
def _(event: Begun) -> list[Part]:
    return [{"type": "response-metadata", "id": event.response_id, "modelId": event.model}]


@_part.register
def _(event: TextStart) -> list[Part]:
    return [{"type": "text-start", "id": event.id}]


@_part.register
def _(event: TextDelta) -> list[Part]:
    return [{"type": "text-delta", "id": event.id, "delta": event.text}]


@_part.register
def _(event: TextEnd) -> list[Part]:
    return [{"type": "text-end", "id": event.id}]


@_part.register
def _(event: ReasoningStart) -> list[Part]:
    return [{"type": "reasoning-start", "id": event.id}]


@_part.register
def _(event: ReasoningDelta) -> list[Part]:
    return [{"type": "reasoning-delta", "id": event.id, "delta": event.text}]


@_part.register
def _(event: ReasoningEnd) -> list[Part]:
    return [{"type": "reasoning-end", "id": event.id}]


@_part.register
def _(event: ToolInputStart) -> list[Part]:
    return [{"type": "tool-input-start", "id": event.id, "toolName": event.name}]


@_part.register
def _(event: ToolInputDelta) -> list[Part]:
    return [{"type": "tool-input-delta", "id": event.id, "delta": event.text}]


@_part.register
def _(event: ToolInputEnd) -> list[Part]:
    return [{"type": "tool-input-end", "id": event.id}]


@_part.register
def _(event: ToolCall) -> list[Part]:
    call = {"toolCallId": event.id, "toolName": event.name, "input": event.arguments}
    return [{"type": "tool-call"} | call]


@_part.register
def _(event: FileMade) -> list[Part]:
    data = {"type": "data", "data": base64.b64encode(event.data).decode()}
    return [{"type": "file", "mediaType": event.media_type, "data": data}]


@_part.register
def _(event: Source) -> list[Part]:
    fields = {"sourceType": "url", "id": event.url, "url": event.url}
    return [{"type": "source"} | fields | ({"title": event.title} if event.title else {})]


@_part.register
def _(_event: Skipped) -> list[Part]:
    return []


@_part.register
def _(event: Fault) -> list[Part]:
    """The provider's words stay here: they may hold what only the operator should read."""
    error: Part = {"kind": event.kind, "retryable": event.transient}
    if event.status:
        error["status"] = event.status
    if event.retry_after_s is not None:
        error["retryAfterS"] = event.retry_after_s
    return [{"type": "error", "error": error}]


def usage(figures: Usage) -> Part:
    """Tokens in the words of `LanguageModelV4Usage`. What is unknown is null."""
    fresh = None
    if figures.input is not None:
        fresh = max(0, figures.input - (figures.cache_read or 0) - (figures.cache_written or 0))
    text = None
    if figures.output is not None:
        text = max(0, figures.output - (figures.reasoning or 0))
    return {
        "inputTokens": {
            "total": figures.input,
            "noCache": fresh,
            "cacheRead": figures.cache_read,
            "cacheWrite": figures.cache_written,
        },
        "outputTokens": {"total": figures.output, "text": text, "reasoning": figures.reasoning},
    }


def _native(event: Finish, model: Model) -> list[Part]:
    if bytes(event.native) == b"[]":
        return []
    native = {
        "shape": model.shape,
        "provider": model.provider,
        "model": model.name,
        "blocks": bytes(event.native).decode(),
    }
    metadata = {"turnwire": {"native": native}}
    return [
        {"type": "reasoning-start", "id": NATIVE_ID},
        {"type": "reasoning-end", "id": NATIVE_ID, "providerMetadata": metadata},
    ]


def written(part: Part) -> bytes:
    """A part as a server-sent event."""
    return b"data: " + msgspec.json.encode(part) + b"\n\n"
