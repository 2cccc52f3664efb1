"""`streamGenerateContent`: an answer is read."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

from turnwire_agent.llm.events import (
    Begun,
    Event,
    FileMade,
    Finish,
    FinishReason,
    Skipped,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from turnwire_agent.llm.faults import MESSAGE_CHARS, Fault, of_error
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.shapes.blocks import Blocks, Kind
from turnwire_agent.llm.shapes.call_ids import AnswerIds
from turnwire_agent.llm.shapes.fields import MalformedError, count, decoded, fields, items, text
from turnwire_agent.llm.shapes.sources import Sources
from turnwire_agent.llm.sse import ServerSentEvent

FINISH_REASONS: Final[dict[str, FinishReason]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content-filter",
    "RECITATION": "content-filter",
    "BLOCKLIST": "content-filter",
    "PROHIBITED_CONTENT": "content-filter",
    "SPII": "content-filter",
    "IMAGE_SAFETY": "content-filter",
    "IMAGE_PROHIBITED_CONTENT": "content-filter",
    "IMAGE_RECITATION": "content-filter",
    "MODEL_ARMOR": "content-filter",
    "MALFORMED_FUNCTION_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "FINISH_REASON_UNSPECIFIED": "other",
    "LANGUAGE": "other",
    "OTHER": "other",
    "IMAGE_OTHER": "other",
    "NO_IMAGE": "other",
    "ESCALATION": "other",
    "PUP_LIMITED_DISABLED": "other",
    "CONTINUATION": "other",
}
"""The words of the wire. Any other is `other`, and told as `Finish.raw`."""

PAGES: Final = ("web", "retrievedContext", "maps")
"""The kinds of `groundingChunks` that have an address."""

PLAIN: Final = {"text", "thought"}
"""A part of nothing else is told as it comes, and goes back with its neighbours as one."""


def decoder(model: Model, made_ids: str = "call") -> "GoogleDecoder":
    """A reader for one answer. See `turnwire_agent.llm.shape.Shape`."""
    del model  # its quirks change nothing here
    return GoogleDecoder(made_ids)


class GoogleDecoder:
    """Reads one answer."""

    def __init__(self, made_ids: str) -> None:
        self._call_ids = AnswerIds(made_ids)
        self._blocks = Blocks()
        self._begun = False
        self._over = False
        self._calls = 0
        self._sources = Sources()
        self._native: list[bytes] = []
        self._plain: list[str] = []
        """Texts of plain parts of one kind, which go back as one."""
        self._plain_kind: Kind = "text"
        self._raw = ""
        self._usage = Usage()

    def event(self, event: ServerSentEvent) -> Sequence[Event]:
        """What one chunk says."""
        if self._over:
            return []
        try:
            return self._chunk(decoded(event.data), event.data)
        except (MalformedError, binascii.Error) as error:
            return self._fail(Fault(kind="malformed", message=str(error)))

    def end(self) -> Sequence[Event]:
        """The body ended."""
        if self._over:
            return []
        if not self._raw:
            return self._fail(Fault(kind="truncated"))
        self._over = True
        self._keep_plain()
        reason = FINISH_REASONS.get(self._raw, "other")
        if reason == "stop" and self._calls:
            reason = "tool-calls"
        native = Raw(b"[" + b",".join(self._native) + b"]")
        return [*self._blocks.end_all(), Finish(reason, self._raw, self._usage, native)]

    def _fail(self, fault: Fault) -> list[Event]:
        self._over = True
        return [fault]

    def _chunk(self, chunk: dict[str, Any], data: bytes) -> list[Event]:
        if chunk.get("error"):
            return self._fail(of_error(chunk))
        events: list[Event] = []
        if not self._begun:
            self._begun = True
            events.append(Begun(text(chunk, "responseId"), text(chunk, "modelVersion")))
        if usage := fields(chunk, "usageMetadata"):
            self._usage = _usage(usage, self._usage)
        candidates = items(chunk, "candidates")
        as_sent: list[Raw] = []
        for number, candidate in enumerate(candidates):
            if candidate.get("index"):
                events.append(Skipped("candidate"))
                continue
            parts = items(fields(candidate, "content"), "parts")
            plain = all(part.keys() <= PLAIN for part in parts)
            if not plain:
                as_sent = as_sent or _candidates(data)
            sent = [] if plain else _parts(as_sent[number])
            for place, part in enumerate(parts):
                events += self._part(part, sent[place] if sent else None)
            events += self._grounding(fields(candidate, "groundingMetadata"))
            self._raw = text(candidate, "finishReason")[:64] or self._raw
        feedback = fields(chunk, "promptFeedback")
        if (blocked := text(feedback, "blockReason")) and not candidates:
            message = text(feedback, "blockReasonMessage")[:MESSAGE_CHARS]
            return self._fail(Fault(kind="refused", code=blocked[:64], message=message))
        return events

    def _part(self, part: dict[str, Any], sent: Raw | None) -> list[Event]:
        words = text(part, "text")
        kind: Kind = "reasoning" if part.get("thought") else "text"
        if sent is None or part.keys() <= PLAIN:
            if self._plain_kind != kind:
                self._keep_plain()
            self._plain_kind = kind
            self._plain.append(words)
            return self._words(kind, words)
        self._keep_plain()
        self._native.append(bytes(sent))
        if call := fields(part, "functionCall"):
            return self._blocks.end_all() + self._call(call)
        if blob := fields(part, "inlineData"):
            made = base64.b64decode(text(blob, "data"), validate=True)
            return [*self._blocks.end_all(), FileMade(text(blob, "mimeType"), made)]
        if "text" in part:
            return self._words(kind, words)
        return [Skipped(name[:64]) for name in part if name not in ("thoughtSignature", "thought")]

    def _words(self, kind: Kind, words: str) -> list[Event]:
        """Blocks have no names here: the other kind of words ends a block."""
        if not words:
            return []
        other: Kind = "reasoning" if kind == "text" else "text"
        return self._blocks.end(other) + self._blocks.delta(kind, kind, words)

    def _keep_plain(self) -> None:
        if words := "".join(self._plain):
            part: dict[str, Any] = {"text": words}
            if self._plain_kind == "reasoning":
                part["thought"] = True
            self._native.append(msgspec.json.encode(part))
        self._plain.clear()

    def _call(self, call: dict[str, Any]) -> list[Event]:
        if call.get("partialArgs") or call.get("willContinue"):
            raise MalformedError("a call in pieces, which was not asked for")
        call_id = self._call_ids.new(text(call, "id"))
        self._calls += 1
        name = text(call, "name")
        if not name:
            raise MalformedError("name")
        events: list[Event] = [ToolInputStart(call_id, name)]
        arguments = "{}"
        if given := fields(call, "args"):
            arguments = msgspec.json.encode(given).decode()
            events.append(ToolInputDelta(call_id, arguments))
        return [*events, ToolInputEnd(call_id), ToolCall(call_id, name, arguments)]

    def _grounding(self, metadata: dict[str, Any]) -> list[Event]:
        events: list[Event] = []
        for each in items(metadata, "groundingChunks"):
            for kind in PAGES:
                page = fields(each, kind)
                if url := text(page, "uri"):
                    events += self._sources.new(url, text(page, "title"))
        return events


def _candidates(data: bytes) -> list[Raw]:
    """The candidates as they came. The chunk was decoded before: it has them."""
    return msgspec.json.decode(_fields(data)["candidates"], type=list[Raw])


def _parts(candidate: Raw) -> list[Raw]:
    return msgspec.json.decode(_fields(_fields(candidate)["content"])["parts"], type=list[Raw])


def _fields(values: bytes | Raw) -> dict[str, Raw]:
    return msgspec.json.decode(values, type=dict[str, Raw])


def _usage(usage: dict[str, Any], before: Usage) -> Usage:
    """The figures are those of the answer so far; one that a chunk leaves out stands."""
    words = count(usage, "candidatesTokenCount")
    thought = count(usage, "thoughtsTokenCount")
    both = None if words is None and thought is None else (words or 0) + (thought or 0)
    figures = {
        "input": count(usage, "promptTokenCount"),
        "cache_read": count(usage, "cachedContentTokenCount"),
        "output": both,
        "reasoning": thought,
    }
    given = {name: figure for name, figure in figures.items() if figure is not None}
    return msgspec.structs.replace(before, **given)
