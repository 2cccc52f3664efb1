"""How an answer is read."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from turnwire_agent.llm.events import (
    Begun,
    Event,
    Finish,
    FinishReason,
    Skipped,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from turnwire_agent.llm.faults import Fault, of_error
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.shapes.blocks import Blocks
from turnwire_agent.llm.shapes.call_ids import AnswerIds
from turnwire_agent.llm.shapes.fields import MalformedError, count, decoded, fields, items, text
from turnwire_agent.llm.shapes.messages.content import input_of
from turnwire_agent.llm.shapes.sources import Sources
from turnwire_agent.llm.sse import ServerSentEvent

FINISH_REASONS: Final[dict[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool-calls",
    "refusal": "content-filter",
    # The answer is not over: it goes back as it is, and the model goes on.
    "pause_turn": "other",
    "compaction": "other",
}
"""The words of the wire. Any other is `other`, and told as `Finish.raw`."""

FIGURES: Final = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def decoder(model: Model, made_ids: str = "call") -> "MessagesDecoder":
    """A reader for one answer. See `turnwire_agent.llm.shape.Shape`."""
    del model  # all of them are read alike
    return MessagesDecoder(made_ids)


class _BlockStart(Struct):
    """A `content_block_start`, with its block as it was sent."""

    content_block: Raw


_block_start = msgspec.json.Decoder(_BlockStart).decode


class _Block:
    """A block that is being told."""

    def __init__(self, values: dict[str, Any], sent: bytes) -> None:
        self.kind = text(values, "type")
        self.values = values
        self.sent = sent
        """Its JSON at its start: it goes back like that, unless something changes it."""
        self.changed = False
        self.understood = True
        """So are its deltas, if it is one of the provider's own. Else it cannot go back."""
        self.pieces: list[str] = []
        """Of its text, of its thinking, or of the JSON of its input."""
        self.call_id = ""
        """Of a call that is told."""

    def put_together(self) -> None:
        """Its pieces become its text, its thinking or its input."""
        if self.pieces:
            together = "".join(self.pieces)
            spoken = self.kind in ("text", "thinking")
            self.values[self.kind if spoken else "input"] = (
                together if spoken else input_of(together)
            )
            self.changed, self.pieces = True, []

    def native(self, *, ended: bool) -> Raw | None:
        """What goes back of it; None if the provider would refuse it.

        Args:
            ended: The model ended the answer by itself. In one that was ended, thinking may lack
                its signature; there are servers that never sign.
        """
        unsigned = self.kind == "thinking" and not text(self.values, "signature")
        blank = self.kind == "text" and not text(self.values, "text").strip()
        nameless = self.kind == "tool_use" and not self.call_id
        if blank or nameless or (unsigned and not ended):
            return None
        return Raw(msgspec.json.encode(self.values) if self.changed else self.sent)


class MessagesDecoder:
    """Reads one answer."""

    def __init__(self, made_ids: str) -> None:
        self._call_ids = AnswerIds(made_ids)
        self._blocks = Blocks()
        self._sources = Sources()
        self._begun = False
        self._over = False
        self._received: list[_Block] = []
        self._open: dict[int | None, _Block] = {}
        self._raw = ""
        self._figures: dict[str, int] = {}

    def event(self, event: ServerSentEvent) -> Sequence[Event]:
        """What one event says."""
        if self._over:
            return []
        try:
            values = decoded(event.data)
            match text(values, "type") or event.name:
                case "content_block_delta":
                    return self._delta(values)
                case "content_block_start":
                    return self._block_start(values, event.data)
                case "content_block_stop":
                    return self._block_stop(count(values, "index"))
                case "message_start":
                    return self._message_start(fields(values, "message"))
                case "message_delta":
                    return self._message_delta(values)
                case "message_stop":
                    return self._message_stop()
                case "ping":
                    return []
                case kind if kind == "error" or values.get("error"):  # some name no type
                    return self._fail(of_error(values))
                case kind:
                    return [Skipped(kind[:64])]
        except (MalformedError, RecursionError) as error:
            return self._fail(Fault(kind="malformed", message=str(error)))

    def end(self) -> Sequence[Event]:
        """The body ended."""
        return [] if self._over else self._fail(Fault(kind="truncated"))

    def _message_start(self, message: dict[str, Any]) -> list[Event]:
        self._count(fields(message, "usage"))
        if self._begun:
            return []
        self._begun = True
        return [Begun(text(message, "id"), text(message, "model"))]

    def _block_start(self, values: dict[str, Any], data: bytes) -> list[Event]:
        index = count(values, "index")
        events = self._block_stop(index)
        given = fields(values, "content_block")
        if not given:
            raise MalformedError("content_block")
        block = _Block(given, bytes(_block_start(data).content_block))
        self._received.append(block)
        self._open[index] = block
        match block.kind:
            case "text":
                events += self._more(index, block, text(given, "text"))
                for citation in items(given, "citations"):
                    events += self._sources.of(citation)
            case "thinking" | "redacted_thinking":
                events += self._blocks.start("reasoning", index)
                events += self._more(index, block, text(given, "thinking"))
            case "tool_use" if name := text(given, "name"):
                block.call_id = self._call_ids.new(text(given, "id"))
                if block.call_id != given.get("id"):
                    given["id"] = block.call_id
                    block.changed = True
                events.append(ToolInputStart(block.call_id, name))
            case "tool_use":
                events.append(Skipped("a call without a name"))
            case kind:
                events.append(Skipped(kind[:64]))
        return events

    def _delta(self, values: dict[str, Any]) -> list[Event]:
        index = count(values, "index")
        block = self._open.get(index)
        if block is None:
            raise MalformedError("index")
        delta = fields(values, "delta")
        kind = text(delta, "type")
        match kind, block.kind:
            case "text_delta", "text":
                return self._more(index, block, text(delta, "text"))
            case "thinking_delta", "thinking":
                return self._more(index, block, text(delta, "thinking"))
            case "input_json_delta", _ if "input" in block.values or block.kind == "tool_use":
                return self._input(block, text(delta, "partial_json"))
            case "signature_delta", "thinking":
                block.values["signature"] = text(delta, "signature")
            case "citations_delta", "text":
                return self._cited(block, fields(delta, "citation"))
            case "compaction_delta", "compaction":
                block.values |= {name: each for name, each in delta.items() if name != "type"}
            case _:
                block.understood = block.kind in ("text", "thinking", "tool_use")
                return [Skipped(kind[:64])]
        block.changed = True
        return []

    def _more(self, index: int | None, block: _Block, more: str) -> list[Event]:
        if not more:
            return []
        block.pieces.append(more)
        return self._blocks.delta("text" if block.kind == "text" else "reasoning", index, more)

    def _input(self, block: _Block, more: str) -> list[Event]:
        if not more:
            return []
        block.pieces.append(more)
        return [ToolInputDelta(block.call_id, more)] if block.call_id else []

    def _cited(self, block: _Block, citation: dict[str, Any]) -> list[Event]:
        block.values["citations"] = [*(block.values.get("citations") or ()), citation]
        return self._sources.of(citation)

    def _block_stop(self, index: int | None) -> list[Event]:
        """A block is whole, if it is open."""
        block = self._open.pop(index, None)
        if block is None:
            return []
        events = self._blocks.end(index)
        if block.call_id:
            whole = fields(block.values, "input")
            if whole and not block.pieces:  # some servers send it at once
                events += self._input(block, msgspec.json.encode(whole).decode())
            arguments = "".join(block.pieces) or "{}"
            events.append(ToolInputEnd(block.call_id))
            events.append(ToolCall(block.call_id, text(block.values, "name"), arguments))
        block.put_together()
        return events

    def _message_delta(self, values: dict[str, Any]) -> list[Event]:
        self._raw = text(fields(values, "delta"), "stop_reason")[:64] or self._raw
        self._count(fields(values, "usage"))
        return []

    def _message_stop(self) -> list[Event]:
        if not self._begun:
            raise MalformedError("message_start")
        events = [event for index in list(self._open) for event in self._block_stop(index)]
        reason = FINISH_REASONS.get(self._raw, "other") if self._raw else "stop"
        if reason == "stop" and any(block.call_id for block in self._received):
            reason = "tool-calls"
        ended = reason in ("stop", "tool-calls")
        self._over = True
        return [*events, Finish(reason, self._raw, self._usage(), self._native(ended=ended))]

    def _native(self, *, ended: bool) -> Raw:
        """All blocks that go back. If one cannot, none does: others may refer to it."""
        blocks = self._received if all(block.understood for block in self._received) else []
        kept = [each for block in blocks if (each := block.native(ended=ended)) is not None]
        return Raw(msgspec.json.encode(kept))

    def _fail(self, fault: Fault) -> list[Event]:
        self._over = True
        return [fault]

    def _count(self, usage: dict[str, Any]) -> None:
        """A figure is of all of the answer so far: it takes the place of the one before."""
        figures = {name: count(usage, name) for name in FIGURES}
        details = fields(usage, "output_tokens_details")
        figures["thinking_tokens"] = count(details, "thinking_tokens")
        self._figures |= {name: each for name, each in figures.items() if each is not None}

    def _usage(self) -> Usage:
        figure = self._figures.get
        read, stored = figure("cache_read_input_tokens"), figure("cache_creation_input_tokens")
        uncached = figure("input_tokens")
        return Usage(
            input=None if uncached is None else uncached + (read or 0) + (stored or 0),
            cache_read=read,
            cache_written=stored,
            output=figure("output_tokens"),
            reasoning=figure("thinking_tokens"),
        )
