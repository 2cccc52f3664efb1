"""Chat Completions, as OpenAI made it and many servers speak it.

A request is a POST of `messages`. An answer is a stream of chunks, each with the `delta` of one
choice: text, reasoning under one of several names, and fragments of calls by their `index`. A
choice's last chunk has a `finish_reason`, then one chunk without choices has the usage, then comes
`[DONE]`. A body that ends before the `finish_reason` and before `[DONE]` is cut.

A native answer is the assistant's message as it is sent back: an array with one object.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

from turnwire_agent.llm import media
from turnwire_agent.llm.arguments import sendable
from turnwire_agent.llm.blocks import Blocks
from turnwire_agent.llm.body import written
from turnwire_agent.llm.call_ids import AnswerIds, fitting
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
from turnwire_agent.llm.fields import MalformedError, count, decoded, fields, items, text
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import OneTool, Request
from turnwire_agent.llm.result_text import result_text
from turnwire_agent.llm.shape import Encoded, UnsendableError, native_blocks
from turnwire_agent.llm.sse import ServerSentEvent
from turnwire_agent.llm.transcript import Assistant, Call, File, Image, Reasoning, Text, User

CALL_ID_CHARS: Final = 40
AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}

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
NOTHING: Final = "there is nothing in it"
"""Several servers refuse a message of no words."""
REASONING_DETAILS: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Which field of a block of reasoning comes in pieces, by its type."""
_KNOWN: Final = {"role", "content", "refusal", "tool_calls", "reasoning_details", *REASONING}


# --- The request ---


def encode(model: Model, request: Request) -> Encoded:
    """Write a request. See `turnwire_agent.llm.shape.Shape`."""
    losses: list[Loss] = []
    body: dict[str, Any] = {
        "model": model.name,
        "messages": list(_messages(model, request, losses)),
        "stream": True,
    }
    quirks = model.quirks
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                }
                | ({"strict": True} if tool.strict and quirks.strict_tools else {}),
            }
            for tool in request.tools
        ]
        choice = request.tool_choice
        if isinstance(choice, OneTool):
            body["tool_choice"] = {"type": "function", "function": {"name": choice.name}}
        else:
            body["tool_choice"] = choice
        if request.parallel_tools is not None:
            body["parallel_tool_calls"] = request.parallel_tools
    if request.effort is not None:
        if quirks.effort_field:
            body["reasoning_effort"] = request.effort
        else:
            losses.append(Loss("effort", "dropped", "the server does not know it"))
    if request.answer_schema is not None:
        schema = {"name": "answer", "schema": request.answer_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    bounds = {
        quirks.max_tokens_field: request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": list(request.stop) or None,
    }
    body |= {name: value for name, value in bounds.items() if value is not None}
    return Encoded("/chat/completions", written(body), losses=tuple(losses))


def _messages(model: Model, request: Request, losses: list[Loss]) -> Iterator[dict[str, Any] | Raw]:
    if request.instructions:
        yield {"role": model.quirks.system_role, "content": request.instructions}
    as_sent = False
    for number, message in enumerate(request.transcript):
        where = f"messages[{number}]"
        if isinstance(message, User):
            if content := _content(message.parts, where, losses):
                yield {"role": "user", "content": content}
            else:
                losses.append(Loss(where, "dropped", NOTHING))
        elif isinstance(message, Assistant):
            native = native_blocks(message, model)
            as_sent = bool(native)
            if native:
                yield from native
            elif answer := _assistant(message, where, losses):
                yield answer
        else:
            shown: list[Text | Image | File] = []
            for result in message.results:
                files = [part for part in result.content if not isinstance(part, Text)]
                call_id = result.call_id if as_sent else fitting(result.call_id, CALL_ID_CHARS)
                content = result_text(result)
                if files and model.quirks.result_images:
                    content = _content((Text(result_text(result)), *files), where, losses)
                elif files:
                    shown += [Text(f"From the result of the call {call_id}:"), *files]
                yield {"role": "tool", "tool_call_id": call_id, "content": content}
            if shown:
                losses.append(
                    Loss(where, "files sent as a user's", "a tool's message has text alone")
                )
                yield {"role": "user", "content": _content(tuple(shown), where, losses)}


def _assistant(message: Assistant, where: str, losses: list[Loss]) -> dict[str, Any] | None:
    told: dict[str, Any] = {"role": "assistant"}
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.text]
    if texts:
        told["content"] = "\n\n".join(texts)
    if any(isinstance(part, Reasoning) for part in message.parts):
        losses.append(Loss(f"{where}.reasoning", "dropped", "it is another model's"))
    if any(isinstance(part, Image | File) for part in message.parts):
        losses.append(Loss(f"{where}.files", "dropped", "an assistant's message has none"))
    if message.calls:
        told["tool_calls"] = [_call(call, where, losses) for call in message.calls]
    if len(told) == 1:
        losses.append(Loss(where, "dropped", NOTHING))
        return None
    return told


def _call(call: Call, where: str, losses: list[Loss]) -> dict[str, Any]:
    arguments = sendable(call.arguments)
    if call.arguments.strip() and arguments != call.arguments:
        losses.append(Loss(f"{where}.arguments", "sent as text", "they are no JSON object"))
    function = {"name": call.name, "arguments": arguments}
    return {"id": fitting(call.id, CALL_ID_CHARS), "type": "function", "function": function}


def _content(
    parts: Sequence[Text | Image | File], where: str, losses: list[Loss]
) -> str | list[dict[str, Any]]:
    """A string if there is one text, which every server takes; else a list of parts."""
    told = []
    for number, part in enumerate(parts):
        if not isinstance(part, Text):
            told.append(_file(part, f"{where}.parts[{number}]", losses))
        elif part.text:
            told.append({"type": "text", "text": part.text})
    if not told:
        return ""
    if len(told) == 1 and told[0]["type"] == "text":
        return str(told[0]["text"])
    return told


def _file(part: Image | File, where: str, losses: list[Loss]) -> dict[str, Any]:
    if isinstance(part, Image):
        return {"type": "image_url", "image_url": {"url": media.address(part)}}
    if not part.data:
        raise UnsendableError(f"{where}: a file by its URL cannot be sent on this wire")
    if part.media_type in AUDIO:
        audio = {"data": media.encoded(part), "format": AUDIO[part.media_type]}
        return {"type": "input_audio", "input_audio": audio}
    if part.media_type == "application/pdf":
        file = {"filename": part.name or "file.pdf", "file_data": media.address(part)}
        return {"type": "file", "file": file}
    if part.media_type.startswith("text/"):
        losses.append(Loss(where, "sent as text", "the wire has no files of this type"))
        return {"type": "text", "text": media.words(part)}
    raise UnsendableError(f"{where}: {part.media_type} cannot be sent on this wire")


# --- The answer ---


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
        for choice in items(chunk, "choices"):
            if choice.get("index"):
                events.append(Skipped("choice"))
                continue
            events += self._delta(fields(choice, "delta"))
            self._raw = text(choice, "finish_reason")[:64] or self._raw
        return events

    def _delta(self, delta: dict[str, Any]) -> list[Event]:
        events: list[Event] = []
        for name in REASONING:
            if thought := text(delta, name):
                events += self._thought(thought)
                break
        for detail in items(delta, "reasoning_details"):
            self._detail(detail)
        content = delta.get("content")
        if isinstance(content, list):
            events += self._listed(items(delta, "content"))
        elif content is not None:
            events += self._text(text(delta, "content"))
        if refusal := text(delta, "refusal"):
            self._refused = True
            events += self._text(refusal)
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
        self._texts.append(more)
        ended = self._blocks.end("reasoning") if more else []
        return ended + self._blocks.delta("text", "text", more)

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
