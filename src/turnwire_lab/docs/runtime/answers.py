"""What the events of an answer become, on each wire: an answer with all that is frequent."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from turnwire_agent.llm.events import Event
from turnwire_agent.llm.model import ShapeName
from turnwire_agent.llm.shapes import SHAPES
from turnwire_agent.llm.sse import ServerSentEvent
from turnwire_lab.docs.runtime.samples import model


def _chat(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta} | more]}


def _google(part: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [part]}} | more]}


_FUNCTION: Final = {"name": "search", "arguments": '{"q":'}
_CHAT_CALL: Final = {"tool_calls": [{"index": 0, "id": "call_1", "function": _FUNCTION}]}
_CHAT_MORE: Final = {"tool_calls": [{"index": 0, "function": {"arguments": '"x"}'}}]}
_ITEM: Final = {"type": "function_call", "id": "fc", "call_id": "call_1", "name": "search"}
_TOOL_USE: Final = {"type": "tool_use", "id": "call_1", "name": "search", "input": {}}

_PAGES: Final = {"groundingChunks": [{"web": {"uri": "https://example.com", "title": "It"}}]}
_PAGE: Final = {"url": "https://example.com", "title": "It"}
_FOUND: Final = [{"url": "https://example.org", "title": "More"}]

SAMPLES: Final[dict[ShapeName, tuple[Any, ...]]] = {
    "chat": (
        _chat({"reasoning_content": "Hm"}),
        _chat({"content": "Hello"}),
        _chat(_CHAT_CALL),
        _chat(_CHAT_MORE),
        _chat({"audio": {"id": "a"}}),
        _chat({"annotations": [{"type": "url_citation", "url_citation": _PAGE}]}),
        _chat({}, finish_reason="tool_calls") | {"search_results": _FOUND},
        {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
        "[DONE]",
    ),
    "responses": (
        {"type": "response.created", "response": {"id": "r", "model": "model-1"}},
        {"type": "response.reasoning_summary_text.delta", "item_id": "rs", "delta": "Hm"},
        {"type": "response.output_text.delta", "item_id": "msg", "delta": "Hello"},
        {
            "type": "response.output_text.annotation.added",
            "item_id": "msg",
            "annotation": {"type": "url_citation"} | _PAGE,
        },
        {"type": "response.output_item.added", "item": _ITEM},
        {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": '{"q":"x"}'},
        {"type": "response.output_item.done", "item": _ITEM | {"arguments": '{"q":"x"}'}},
        {"type": "response.output_item.added", "item": {"type": "web_search_call", "id": "ws"}},
        {"type": "response.completed", "response": {"status": "completed"}},
    ),
    "messages": (
        {"type": "message_start", "message": {"id": "m", "model": "model-1"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "Hm"},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": "sealed"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": _TOOL_USE},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"q":"x"}'},
        },
        {"type": "content_block_stop", "index": 1},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "text", "text": "Hi"},
        },
        {
            "type": "content_block_delta",
            "index": 2,
            "delta": {
                "type": "citations_delta",
                "citation": {"type": "web_search_result_location"} | _PAGE,
            },
        },
        {"type": "content_block_stop", "index": 2},
        {"type": "ping"},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
        {"type": "message_stop"},
    ),
    "google": (
        _google({"text": "Hm", "thought": True}),
        _google({"text": "Hello"}),
        _google({"functionCall": {"name": "search", "args": {"q": "x"}}}),
        _google({"inlineData": {"mimeType": "image/png", "data": "UE5H"}}),
        _google({"executableCode": {"code": "1"}}),
        _google({"text": ""}, finishReason="STOP", groundingMetadata=_PAGES),
    ),
}


def rows(shape: ShapeName) -> Iterator[tuple[str, str]]:
    """An event of the wire, and ours. The last row is the end of the body."""
    decoder = SHAPES[shape].decoder(model(shape))
    for sample in SAMPLES[shape]:
        data = sample.encode() if isinstance(sample, str) else msgspec.json.encode(sample)
        name = "" if isinstance(sample, str) else str(sample.get("type", ""))
        yield f"`{data.decode()}`", _shown(decoder.event(ServerSentEvent(name, data)))
    if ends := decoder.end():
        yield "the body ends", _shown(ends)


def _shown(events: Any) -> str:
    return "<br>".join(_event(event) for event in events)


def _event(event: Event) -> str:
    """A constructor call, without what is empty."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    given = (
        f"{name}={bytes(value).decode() if name == 'native' else repr(value)}"
        for name, value in fields.items()
        if name not in ("native", "usage") and value not in ("", None)
    )
    return f"`{type(event).__name__}({', '.join(given)})`"
