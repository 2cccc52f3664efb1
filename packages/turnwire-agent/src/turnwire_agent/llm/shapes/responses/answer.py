"""Responses: an answer is read."""

from collections.abc import Callable, Sequence
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
from turnwire_agent.llm.shapes.arguments import sendable
from turnwire_agent.llm.shapes.blocks import Blocks, Kind
from turnwire_agent.llm.shapes.call_ids import AnswerIds
from turnwire_agent.llm.shapes.fields import MalformedError, count, decoded, fields, items, text
from turnwire_agent.llm.shapes.sources import Sources
from turnwire_agent.llm.sse import ServerSentEvent

ARGUMENTS: Final = ("arguments", None)
"""The part of a call that is told in pieces."""

INCOMPLETE: Final[dict[str, FinishReason]] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
    "max_messages": "other",
    "steered": "other",
}
"""Why a response is incomplete. Any other word is `other`, and told as `Finish.raw`."""

KNOWN: Final = (
    "response.content_part.",
    "response.function_call_arguments.",
    "response.in_progress",
    "response.output_item.",
    "response.output_text.",
    "response.queued",
    "response.reasoning_",
    "response.refusal.",
)
"""Events that say nothing that the others did not."""


def decoder(model: Model, made_ids: str = "call") -> "ResponsesDecoder":
    """A reader for one answer. See `turnwire_agent.llm.shape.Shape`."""
    del model  # its quirks change nothing here
    return ResponsesDecoder(made_ids)


class _Output(Struct):
    """The bytes of a response's items."""

    output: list[Raw] | None = None


class _Final(Struct):
    response: _Output


class _Done(Struct):
    item: Raw


_final = msgspec.json.Decoder(_Final).decode
_done = msgspec.json.Decoder(_Done).decode


class _Item:
    """An item of the output that is being told."""

    def __init__(self, kind: str, number: int) -> None:
        self.kind = kind
        """Empty for one that was never added."""
        self.number = number
        self.call_id = ""
        self.name = ""
        self.arguments = ""
        """All of them, when the item is over."""
        self.texts: dict[tuple[str, int | None], list[str]] = {}
        """What was told of each of its parts."""
        self.over = False

    def text_of(self, part: tuple[str, int | None]) -> str:
        """All that was told of a part."""
        pieces = self.texts.setdefault(part, [])
        if len(pieces) != 1:
            pieces[:] = ["".join(pieces)]
        return pieces[0]


class ResponsesDecoder:
    """Reads one answer."""

    def __init__(self, made_ids: str) -> None:
        self._call_ids = AnswerIds(made_ids)
        self._blocks = Blocks()
        self._sources = Sources()
        self._items: dict[str | int | None, _Item] = {}
        """By their ids, and by their places."""
        self._begun_items = 0
        self._calls = 0
        self._refused = False
        self._begun = False
        self._over = False
        self._native: list[tuple[_Item, bytes]] = []
        self._handlers: dict[str, Callable[[dict[str, Any]], list[Event]]] = {
            "response.created": self._created,
            "response.output_item.added": self._added,
            "response.output_text.delta": self._text,
            "response.output_text.done": self._text_done,
            "response.output_text.annotation.added": self._annotation,
            "response.refusal.delta": self._refusal,
            "response.reasoning_summary_text.delta": self._thought,
            "response.reasoning_text.delta": self._thought,
            "response.function_call_arguments.delta": self._arguments,
            "response.failed": self._failed,
            "error": self._error,
        }

    def event(self, event: ServerSentEvent) -> Sequence[Event]:
        """What one event says."""
        if self._over or event.data.strip() == b"[DONE]":
            return []
        try:
            values = decoded(event.data)
            kind = text(values, "type") or event.name
            if handler := self._handlers.get(kind):
                return handler(values)
            if kind == "response.output_item.done":
                return self._done(values, event.data)
            if kind in ("response.completed", "response.incomplete"):
                return self._finish(values, event.data)
            return [] if kind.startswith(KNOWN) else [Skipped(kind[:64])]
        except (MalformedError, msgspec.ValidationError) as error:
            self._over = True
            return [Fault(kind="malformed", message=str(error)[:200])]

    def end(self) -> Sequence[Event]:
        """The body ended."""
        if self._over:
            return []
        self._over = True
        return [Fault(kind="truncated")]

    def _item(self, values: dict[str, Any]) -> _Item:
        """The item an event is of."""
        item_id, place = text(values, "item_id"), count(values, "output_index")
        return self._known(item_id, place) or self._new("", item_id, place)

    def _known(self, item_id: str, place: int | None) -> _Item | None:
        return self._items.get(item_id) or self._items.get(place)

    def _new(self, kind: str, item_id: str, place: int | None) -> _Item:
        item = _Item(kind, self._begun_items)
        self._begun_items += 1
        if item_id:
            self._items[item_id] = item
        if place is not None or not item_id:
            self._items[place] = item
        return item

    def _created(self, values: dict[str, Any]) -> list[Event]:
        if self._begun:
            return []
        self._begun = True
        response = fields(values, "response")
        return [Begun(text(response, "id"), text(response, "model"))]

    def _added(self, values: dict[str, Any]) -> list[Event]:
        item = fields(values, "item")
        kind = text(item, "type")
        known = self._new(kind, text(item, "id"), count(values, "output_index"))
        if kind == "function_call":
            return self._begin_call(known, item)
        return [] if kind in ("message", "reasoning") else [Skipped(kind[:64])]

    def _begin_call(self, known: _Item, item: dict[str, Any]) -> list[Event]:
        known.call_id = self._call_ids.new(text(item, "call_id"))
        known.name = text(item, "name")
        if not known.name:
            raise MalformedError("name")
        self._calls += 1
        return [ToolInputStart(known.call_id, known.name)]

    def _more(self, kind: Kind, values: dict[str, Any], field: str, place: str) -> list[Event]:
        """More of a part. The whole of it says only what its deltas left out."""
        return self._rest(kind, self._item(values), (place, count(values, place)), values, field)

    def _rest(
        self,
        kind: Kind,
        item: _Item,
        part: tuple[str, int | None],
        values: dict[str, Any],
        field: str,
    ) -> list[Event]:
        more = text(values, field)
        if field != "delta":
            before = item.text_of(part)
            more = more[len(before) :] if more.startswith(before) else ""
        pieces = item.texts.setdefault(part, [])
        if more:
            pieces.append(more)
        return self._blocks.delta(kind, (item.number, part), more)

    def _text(self, values: dict[str, Any]) -> list[Event]:
        return self._more("text", values, "delta", "content_index")

    def _text_done(self, values: dict[str, Any]) -> list[Event]:
        return self._more("text", values, "text", "content_index")

    def _refusal(self, values: dict[str, Any]) -> list[Event]:
        self._refused = True
        return self._text(values)

    def _thought(self, values: dict[str, Any]) -> list[Event]:
        place = "summary_index" if "summary_index" in values else "content_index"
        return self._more("reasoning", values, "delta", place)

    def _annotation(self, values: dict[str, Any]) -> list[Event]:
        return self._sources.of(fields(values, "annotation"))

    def _arguments(self, values: dict[str, Any]) -> list[Event]:
        item = self._item(values)
        more = text(values, "delta")
        if not more or item.kind != "function_call":
            return []
        item.texts.setdefault(ARGUMENTS, []).append(more)
        return [ToolInputDelta(item.call_id, more)]

    def _done(self, values: dict[str, Any], data: bytes) -> list[Event]:
        item = fields(values, "item")
        if not item:
            raise MalformedError("item")
        known = self._item_of(item, count(values, "output_index"))
        self._native.append((known, bytes(_done(data).item)))
        return self._whole(item, known)

    def _item_of(self, item: dict[str, Any], place: int | None) -> _Item:
        """What was told of an item that is whole now: it may be one that was never added."""
        item_id, kind = text(item, "id"), text(item, "type")
        known = self._known(item_id, place)
        return known if known and known.kind in ("", kind) else self._new(kind, item_id, place)

    def _whole(self, item: dict[str, Any], known: _Item) -> list[Event]:
        """What was not told of an item yet, and its end."""
        if known.over:
            return []
        known.over = True
        known.kind = kind = text(item, "type")
        events: list[Event] = []
        if kind == "function_call":
            return self._end_call(known, item)
        if kind in ("message", "reasoning"):
            for field, place in (("content", "content_index"), ("summary", "summary_index")):
                if (place, None) in known.texts:  # of which part it was is not known
                    continue
                for number, part in enumerate(items(item, field)):
                    block: Kind = "text" if kind == "message" else "reasoning"
                    self._refused |= text(part, "type") == "refusal"
                    whole = {"text": _words(part)}
                    events += self._rest(block, known, (place, number), whole, "text")
        for place_of in known.texts:
            events += self._blocks.end((known.number, place_of))
        for part in items(item, "content") if kind == "message" else ():
            for annotation in items(part, "annotations"):
                if annotation.get("url"):
                    events += self._sources.of(annotation)
        return events

    def _end_call(self, known: _Item, item: dict[str, Any]) -> list[Event]:
        events = [] if known.call_id else self._begin_call(known, item)
        arguments = item.get("arguments")
        if isinstance(arguments, dict):  # some servers send them parsed
            arguments = msgspec.json.encode(arguments).decode()
        else:
            arguments = text(item, "arguments")
        before = known.text_of(ARGUMENTS)
        if arguments.startswith(before) and len(arguments) > len(before):
            events.append(ToolInputDelta(known.call_id, arguments[len(before) :]))
        known.arguments = arguments or before or "{}"
        call = ToolCall(known.call_id, known.name, known.arguments)
        return [*events, ToolInputEnd(known.call_id), call]

    def _finish(self, values: dict[str, Any], data: bytes) -> list[Event]:
        response = fields(values, "response")
        events = self._created(values)
        output = items(response, "output")
        known_items = [self._item_of(item, number) for number, item in enumerate(output)]
        for item, known in zip(output, known_items, strict=True):
            events += self._whole(item, known)
        events += self._blocks.end_all()
        raw = text(fields(response, "incomplete_details"), "reason")[:64]
        reason: FinishReason = "stop"
        if raw or text(values, "type") == "response.incomplete":
            reason = INCOMPLETE.get(raw, "other")
        elif self._calls:
            reason = "tool-calls"
        elif self._refused:
            reason = "content-filter"
        last = _final(data).response.output
        native = [*zip(known_items, map(bytes, last or []), strict=True)] or self._native
        while native and native[-1][0].kind == "reasoning":
            native.pop()
        sent_back = [_sent_back(item, sent) for item, sent in native]
        usage = _usage(fields(response, "usage"))
        self._over = True
        raw = raw or text(response, "status")[:64]
        return [*events, Finish(reason, raw, usage, Raw(b"[" + b",".join(sent_back) + b"]"))]

    def _failed(self, values: dict[str, Any]) -> list[Event]:
        self._over = True
        return [of_error({"error": fields(values, "response").get("error")})]

    def _error(self, values: dict[str, Any]) -> list[Event]:
        self._over = True
        return [of_error(values if "error" in values else {"error": values})]


def _words(part: dict[str, Any]) -> str:
    return text(part, "text") or text(part, "refusal")


def _sent_back(known: _Item, item: bytes) -> bytes:
    """An item as its provider takes it back.

    Reasoning has no plain content beside the sealed. A call has an id that no other has, and text
    of an object as its arguments.
    """
    values = msgspec.json.decode(item)
    if values.get("encrypted_content") and values.get("content"):
        return msgspec.json.encode({key: values[key] for key in values if key != "content"})
    changed = {"call_id": known.call_id, "arguments": sendable(known.arguments)}
    if known.kind != "function_call" or values.items() >= changed.items():
        return item
    return msgspec.json.encode(values | changed)


def _usage(usage: dict[str, Any]) -> Usage:
    details = fields(usage, "input_tokens_details")
    return Usage(
        input=count(usage, "input_tokens"),
        cache_read=count(details, "cached_tokens"),
        cache_written=count(details, "cache_write_tokens"),
        output=count(usage, "output_tokens"),
        reasoning=count(fields(usage, "output_tokens_details"), "reasoning_tokens"),
    )
