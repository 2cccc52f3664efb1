"""Chat Completions: an answer is read."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

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
from turnwire_agent.llm.shapes.blocks import Blocks
from turnwire_agent.llm.shapes.call_ids import AnswerIds
from turnwire_agent.llm.shapes.fields import MalformedError, count, decoded, fields, items, text
from turnwire_agent.llm.shapes.sources import Sources
from turnwire_agent.llm.sse import ServerSentEvent

FINISH_REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    # Words of other makes.
    "model_length": "length",
    "error": "error",
    "insufficient_system_resource": "error",
}
"""The words of the wire. Any other is `other`, and told as `Finish.raw`."""

REASONING: Final = ("reasoning_content", "reasoning", "reasoning_text")
"""Where servers put it. The first that is there counts: some send it under two names."""

REASONING_DETAILS: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Which field of a block of reasoning comes in pieces, by its type."""

PAGES: Final = ("search_results", "citations")
"""Where a chunk of a server that searches has its pages, those with titles first."""

_KNOWN: Final = {
    *("role", "content", "refusal", "tool_calls", "reasoning_details", "annotations"),
    *REASONING,
}


def decoder(model: Model, made_ids: str = "call") -> "ChatDecoder":
    """A reader for one answer. See `turnwire_agent.llm.shape.Shape`."""
    return ChatDecoder(model, made_ids)


class _Call:
    """A call that is being told."""

    def __init__(self, given: str, call_id: str) -> None:
        self.given = given
        """The server's id, which another call may have, too."""
        self.id = call_id
        self.name = ""
        self.arguments: list[str] = []
        self.more: dict[str, Any] = {}
        """Fields that the wire's maker does not have, as signatures: they go back."""

    def message(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": sendable("".join(self.arguments))}
        return self.more | {"id": self.id, "type": "function", "function": function}


class ChatDecoder:
    """Reads one answer."""

    def __init__(self, model: Model, made_ids: str) -> None:
        self._model = model
        self._call_ids = AnswerIds(made_ids)
        self._blocks = Blocks()
        self._sources = Sources()
        self._begun = False
        self._over = False
        self._texts: list[str] = []
        self._reasoning: list[str] = []
        self._details: list[tuple[dict[str, Any], list[str]]] = []
        """Blocks of reasoning that go back, and their texts."""
        self._refused = False
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._raw = ""
        self._usage = Usage()

    def event(self, event: ServerSentEvent) -> Sequence[Event]:
        """What one chunk says."""
        if self._over:
            return []
        if event.data.strip() == b"[DONE]":
            return self._finish()
        try:
            return self._chunk(decoded(event.data))
        except MalformedError as error:
            return self._fail(Fault(kind="malformed", message=str(error)))

    def end(self) -> Sequence[Event]:
        """The body ended."""
        if self._over:
            return []
        return self._finish() if self._raw else self._fail(Fault(kind="truncated"))

    def _chunk(self, chunk: dict[str, Any]) -> list[Event]:
        if chunk.get("error"):
            return self._fail(of_error(chunk))
        events: list[Event] = []
        # Azure judges the prompt first, in a chunk that has neither an id nor a model.
        if not self._begun and (chunk.get("id") or chunk.get("choices")):
            self._begun = True
            events.append(Begun(text(chunk, "id"), text(chunk, "model")))
        if chunk.get("usage"):
            self._usage = _usage(fields(chunk, "usage"))
        elif "x_groq" in chunk and self._usage == Usage():
            self._usage = _usage(fields(fields(chunk, "x_groq"), "usage"))
        for name in PAGES:
            if name in chunk:
                self._sources.note(chunk[name])
        for choice in items(chunk, "choices"):
            if choice.get("index"):
                events.append(Skipped("choice"))
                continue
            events += self._delta(fields(choice, "delta"))
            if raw := text(choice, "finish_reason"):
                self._raw = raw[:64]
        return events

    def _delta(self, delta: dict[str, Any]) -> list[Event]:
        content = delta.get("content")
        if isinstance(content, str) and _is_alone(delta):
            return self._text(content)
        events: list[Event] = []
        for name in REASONING:
            if thought := text(delta, name):
                events += self._thought(thought)
                break
        for detail in items(delta, "reasoning_details"):
            self._detail(detail)
        if isinstance(content, list):
            events += self._listed(items(delta, "content"))
        elif content is not None:
            events += self._text(text(delta, "content"))
        if refusal := text(delta, "refusal"):
            self._refused = True
            events += self._text(refusal)
        for annotation in items(delta, "annotations"):
            events += self._sources.of(fields(annotation, "url_citation") or annotation)
        for fragment in items(delta, "tool_calls"):
            events += self._blocks.end_all()
            events += self._fragment(fragment)
        events += [
            Skipped(name[:64]) for name, value in delta.items() if value and name not in _KNOWN
        ]
        return events

    def _detail(self, detail: dict[str, Any]) -> None:
        """A piece of a block of reasoning: its text comes in pieces, a signature at its end."""
        field = REASONING_DETAILS.get(text(detail, "type"), "")
        before = self._details[-1][0] if self._details else {}
        if not field or any(before.get(name) != detail.get(name) for name in ("type", "index")):
            self._details.append((dict(detail), []))
        block, pieces = self._details[-1]
        if field:
            block |= {name: value for name, value in detail.items() if value}
            pieces.append(text(detail, field))

    def _text(self, more: str) -> list[Event]:
        if not more:
            return []
        self._texts.append(more)
        events = self._blocks.end("reasoning")
        events += self._blocks.delta("text", "text", more)
        return events

    def _thought(self, more: str) -> list[Event]:
        self._reasoning.append(more)
        return self._blocks.end("text") + self._blocks.delta("reasoning", "reasoning", more)

    def _listed(self, parts: list[dict[str, Any]]) -> list[Event]:
        """Content as a list of parts, as Mistral's models have it that think."""
        events: list[Event] = []
        for part in parts:
            kind = text(part, "type")
            if kind == "text":
                events += self._text(text(part, "text"))
            elif kind == "thinking":
                for thought in items(part, "thinking"):
                    events += self._thought(text(thought, "text"))
            else:
                events.append(Skipped(kind[:64]))
        return events

    def _fragment(self, fragment: dict[str, Any]) -> list[Event]:
        function = fields(fragment, "function")
        call = self._call(fragment, function)
        events: list[Event] = []
        name = text(function, "name")
        if name and not call.name:
            call.name = name
            events.append(ToolInputStart(call.id, name))
            events += [ToolInputDelta(call.id, each) for each in call.arguments]
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # some servers send them parsed
            more = msgspec.json.encode(arguments).decode()
        else:
            more = text(function, "arguments")
        if more:
            call.arguments.append(more)
            if call.name:
                events.append(ToolInputDelta(call.id, more))
        return events

    def _call(self, fragment: dict[str, Any], function: dict[str, Any]) -> _Call:
        """Which call a fragment is of, or a new one.

        Most servers count by `index`. Some send none; some send 0 for every call; some send an id
        with each fragment, most with the first.
        """
        index = count(fragment, "index")
        call_id = text(fragment, "id")
        if index is not None:
            call = self._by_index.get(index)
        elif call_id:
            call = self._by_id.get(call_id)
        else:
            call = self._calls[-1] if self._calls and not function.get("name") else None
        another = call is not None and call_id not in ("", call.given) and function.get("name")
        if call is None or another:
            call = _Call(call_id, self._call_ids.new(call_id))
            self._calls.append(call)
            self._by_id.setdefault(call_id, call)
            if index is not None:
                self._by_index[index] = call
        known = {"index", "id", "type", "function"}
        call.more |= {name: value for name, value in fragment.items() if name not in known}
        return call

    def _finish(self) -> list[Event]:
        self._over = True
        events = self._blocks.end_all()
        events += self._sources.noted()
        calls = [call for call in self._calls if call.name]
        events += [Skipped("a call without a name")] * (len(self._calls) - len(calls))
        for call in calls:
            events.append(ToolInputEnd(call.id))
            events.append(ToolCall(call.id, call.name, "".join(call.arguments) or "{}"))
        reason = FINISH_REASONS.get(self._raw, "other") if self._raw else "stop"
        if reason == "stop" and calls:
            reason = "tool-calls"
        elif reason == "stop" and self._refused:
            reason = "content-filter"
        events.append(Finish(reason, self._raw, self._usage, self._native(calls)))
        return events

    def _fail(self, fault: Fault) -> list[Event]:
        self._over = True
        return [fault]

    def _native(self, calls: list[_Call]) -> Raw:
        words = "".join(self._texts)
        message: dict[str, Any] = {"role": "assistant"}
        if words:
            message["refusal" if self._refused else "content"] = words
        if calls:
            message["tool_calls"] = [call.message() for call in calls]
        if self._model.quirks.reasoning_field and self._reasoning:
            message[self._model.quirks.reasoning_field] = "".join(self._reasoning)
        if self._details:
            message["reasoning_details"] = [_whole(*each) for each in self._details]
        return Raw(msgspec.json.encode([message] if len(message) > 1 else []))


def _is_alone(delta: dict[str, Any]) -> bool:
    """Whether a delta has text and no more, as nearly every one."""
    for name, value in delta.items():
        if value is not None and name not in {"content", "role"}:
            return False
    return True


def _whole(block: dict[str, Any], pieces: list[str]) -> dict[str, Any]:
    return block | ({REASONING_DETAILS[block["type"]]: "".join(pieces)} if pieces else {})


def _usage(usage: dict[str, Any]) -> Usage:
    prompt = fields(usage, "prompt_tokens_details")
    cached = count(prompt, "cached_tokens")
    return Usage(
        input=count(usage, "prompt_tokens"),
        cache_read=cached if cached is not None else count(usage, "prompt_cache_hit_tokens"),
        cache_written=count(prompt, "cache_write_tokens"),
        output=count(usage, "completion_tokens"),
        reasoning=count(fields(usage, "completion_tokens_details"), "reasoning_tokens"),
    )
