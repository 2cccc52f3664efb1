"""Events of the wire `messages`, and what is read in them."""

import json
from typing import Any, Final

from runtime.llm.streams import read, sse
from turnwire_agent.llm.events import Event, Finish
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.shapes import messages

MODEL: Final = Model(provider="anthropic", name="claude", shape="messages", base_url="")
USAGE: Final = {"input_tokens": 10, "output_tokens": 1}
BEGIN: Final[dict[str, Any]] = {
    "type": "message_start",
    "message": {"id": "m1", "model": "claude-1", "content": [], "usage": USAGE},
}
STOP: Final = {"type": "message_stop"}


def start(index: int, kind: str, **more: Any) -> dict[str, Any]:
    block = {"type": kind} | more
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind} | more}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def text(index: int, *pieces: str) -> list[dict[str, Any]]:
    deltas = [delta(index, "text_delta", text=piece) for piece in pieces]
    return [start(index, "text", text=""), *deltas, stop(index)]


def thinking(index: int, words: str, signature: str) -> list[dict[str, Any]]:
    signed = [delta(index, "signature_delta", signature=signature)] if signature else []
    return [
        start(index, "thinking", thinking="", signature=""),
        delta(index, "thinking_delta", thinking=words),
        *signed,
        stop(index),
    ]


def call(index: int, call_id: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    deltas = [delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [start(index, "tool_use", id=call_id, name=name, input={}), *deltas, stop(index)]


def ended(reason: str | None, **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def events_of(*told: Any, reason: str = "end_turn") -> list[Event]:
    """What an answer says that begins, tells these, and ends."""
    return read(messages, MODEL, [sse(BEGIN, *told, ended(reason), STOP, named=True)])


def finish(events: list[Event]) -> Finish:
    assert isinstance(events[-1], Finish)
    return events[-1]


def native(events: list[Event]) -> Any:
    return json.loads(bytes(finish(events).native))
