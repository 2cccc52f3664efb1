"""The mapping table of `openai-responses`: events of the wire fed to a real `Turn`."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from turnwire.dialects.openai_responses import OpenAiResponses
from turnwire_lab.docs.mappings.http import APPROVALS, END, Frame, chunks_of


def _event(kind: str, **fields: Any) -> Frame:
    return {"type": f"response.{kind}", **fields}


def _text(delta: str, index: int = 0) -> Frame:
    return _event("output_text.delta", output_index=index, content_index=0, delta=delta)


def _added(item: Frame, index: int = 1) -> Frame:
    return _event("output_item.added", output_index=index, item=item)


def _done(item: Frame, index: int = 1) -> Frame:
    return _event("output_item.done", output_index=index, item=item)


def _call(arguments: str) -> Frame:
    return {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": arguments}


def _tool(kind: str, **fields: Any) -> Frame:
    return {"id": "t1", "type": kind, "status": "completed", **fields}


def _end(kind: str = "completed", **fields: Any) -> Frame:
    return _event(kind, response={"status": kind, **fields})


_START: Final = _event("created", response={})
_TEXT: Final = _text("Hi")
_WHOLE: Final = _event("output_text.done", output_index=0, content_index=0, text="Hi there")
_THOUGHT: Final = _event(
    "reasoning_summary_text.delta", output_index=0, summary_index=0, delta="Hm"
)
_HEAD: Final = _added(_call(""))
_ARGS: Final = _event("function_call_arguments.delta", output_index=1, delta='{"n":1}')
_ARGS_DONE: Final = _event("function_call_arguments.done", output_index=1, arguments='{"n":1}')
_CALLED: Final = [_START, _HEAD, _ARGS, _ARGS_DONE]
_OUTPUT: Final = {"type": "function_call_output", "call_id": "c1", "output": "2"}
_MCP: Final = _tool("mcp_call", name="read", arguments="{}", output="2")
_PICTURE: Final = _tool("image_generation_call", result="iVBORw0KGgo=")
_CITED: Final = _event(
    "output_text.annotation.added", annotation={"type": "url_citation", "url": "https://a.example"}
)
_ASK: Final = _done({"id": "q1", "type": "mcp_approval_request", "name": "rm", "server_label": "s"})
_ERROR: Final = {"type": "error", "message": "no model"}
_SUMMARY: Final = {"type": "reasoning", "summary": [{"text": "Hm"}]}
_MESSAGE: Final = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
_CITY: Final = {"type": "message", "content": [{"type": "output_text", "text": "Rome"}]}
_REFUSAL: Final = _event("refusal.delta", output_index=0, content_index=0, delta="No.")
_LENGTH: Final = _end("incomplete", incomplete_details={"reason": "max_output_tokens"})
_FILTER: Final = _end("incomplete", incomplete_details={"reason": "content_filter"})

_ROWS: Final[Sequence[tuple[str, Sequence[Frame | str], Frame | str]]] = (
    ("`response.created`, or any first event", [], _START),
    ("`output_text.delta`, the first of its part", [_START], _TEXT),
    ("… the next one", [_START, _TEXT], _TEXT),
    ("… of another item, or of a part after the end of one", [_START, _TEXT], _text("Hi", 2)),
    ("… of the same item, after a call", [*_CALLED, _done(_OUTPUT, 2)], _TEXT),
    ("`output_text.done`, and the item: what the deltas lacked", [_START, _TEXT], _WHOLE),
    ("`reasoning_summary_text.delta`, `reasoning_text.delta`", [_START], _THOUGHT),
    ("… an item without deltas", [_START], _done(_SUMMARY, 0)),
    ("`refusal.delta`", [_START, _TEXT], _REFUSAL),
    ("an item that is a call, added", [_START], _HEAD),
    ("`function_call_arguments.delta`", [_START, _HEAD], _ARGS),
    ("`function_call_arguments.done`, or the item", [_START, _HEAD, _ARGS], _ARGS_DONE),
    ("`function_call_output`, added or done", _CALLED, _done(_OUTPUT, 2)),
    ("… added, and empty", _CALLED, _added({**_OUTPUT, "output": ""}, 2)),
    ("… with a `status` that is a failure", _CALLED, _done({**_OUTPUT, "status": "incomplete"}, 2)),
    ("a tool of the server (`mcp_call`, `web_search_call`, …), added", [_START], _added(_MCP)),
    ("… done", [_START, _added(_MCP)], _done(_MCP)),
    ("… failed", [_START, _added(_MCP)], _done({**_MCP, "output": None, "error": "gone"})),
    ("`image_generation_call`", [_START], _done(_PICTURE)),
    ("`mcp_list_tools`, and items of unknown types", [_START], _done(_tool("mcp_list_tools"))),
    ("`output_text.annotation.added`, until the end", [_START, _TEXT], _CITED),
    ("… and then the end", [_START, _TEXT, _CITED], _end()),
    ("`response.completed`", [_START, _TEXT], _end()),
    ("… with all items, where nothing came before", [_START], _end(output=[_MESSAGE])),
    ("… with an item that no event was of", [_START, _TEXT], _end(output=[_MESSAGE, _CITY])),
    ("… while a call has no output", _CALLED, _end()),
    ("… and then the end of the body, or `[DONE]`", [*_CALLED, _end()], END),
    ("… or the outcome, and another `response.created`", [*_CALLED, _end()], _done(_OUTPUT, 0)),
    ("`response.incomplete`, because of its length", [_START, _TEXT], _LENGTH),
    ("… because of a filter, after text", [_START, _TEXT], _FILTER),
    ("… without text", [_START], _FILTER),
    ("… or `completed`, after a refusal", [_START, _REFUSAL], _end()),
    ("`mcp_approval_request`", [_START, _TEXT], _ASK),
    ("… and then `response.completed`", [_START, _ASK], _end()),
    ("… and then `response.incomplete`", [_START, _ASK], _LENGTH),
    ("`response.cancelled`", _CALLED, _end("cancelled")),
    ("`error`, `response.failed`", [_START, _TEXT], _ERROR),
    ("… the second of them", [_START, _TEXT, _ERROR], _end("failed")),
    ("the end of the body before any of these", [_START, _TEXT], END),
    ("`keepalive`, an event of an unknown type, an empty delta", [_START], {"type": "keepalive"}),
)  # fmt: skip


def rows() -> Iterator[tuple[str, str]]:
    """Events of the agent, and the types of the chunks that they become."""
    for label, before, frame in _ROWS:
        yield label, chunks_of(OpenAiResponses(), before, frame)
        if label.startswith("… and then `response.completed`"):
            made = chunks_of(OpenAiResponses(), before, frame, APPROVALS)
            yield "… in the profiles `6` and `7`", made
