"""Answers of a model as the providers stream them, in three wires: text that comes by the word."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

CHAT: Final = "chat"
MESSAGES: Final = "messages"
RESPONSES: Final = "responses"
WIRES: Final = (CHAT, MESSAGES, RESPONSES)

PATHS: Final = {CHAT: "/chat/completions", MESSAGES: "/messages", RESPONSES: "/responses"}
"""How a request's path ends."""

WORDS: Final = ("**", "Holiday", " respect", ",", " and", " the", " same", " again", ".\n")

_PLAN: Final = re.compile(rb"answer of (\d+) chunks, (\d+) in a write, (\d+) us apart")


class Plan(Struct, frozen=True):
    """One answer. It is the prompt, so that every client library carries it."""

    chunks: int
    together: int = 5
    """Chunks of one write."""
    gap_us: int = 0
    """Between two writes; 0 is as fast as they go."""

    @property
    def words(self) -> str:
        """The prompt."""
        return f"answer of {self.chunks} chunks, {self.together} in a write, {self.gap_us} us apart"

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.pieces())

    def pieces(self) -> Iterator[str]:
        return (WORDS[number % len(WORDS)] for number in range(self.chunks))


def plan_of(body: bytes) -> Plan | None:
    """The plan that a request's body asks for."""
    found = _PLAN.search(body)
    return Plan(*map(int, found.groups())) if found else None


def writes(wire: str, plan: Plan) -> Sequence[bytes]:
    """The body of a response in the pieces in which it is written."""
    events = list(_WIRES[wire](plan))
    return [
        b"".join(events[at : at + plan.together]) for at in range(0, len(events), plan.together)
    ]


def _chat(plan: Plan) -> Iterator[bytes]:
    beginning = {
        "id": "chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0",
        "object": "chat.completion.chunk",
        "created": 1770933892,
        "model": "large-4.1-2025-04-14",
        "service_tier": "default",
        "system_fingerprint": "fp_de604bd877",
    }

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        values = {"choices": [choice], "usage": None, "obfuscation": "yhjoJbEF"}
        return _data(beginning | values)

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for piece in plan.pieces():
        yield chunk({"content": piece})
    yield chunk({}, "stop")
    tokens = {"prompt_tokens": 16, "completion_tokens": plan.chunks}
    usage = tokens | {"total_tokens": 16 + plan.chunks}
    yield _data(beginning | {"choices": [], "usage": usage, "obfuscation": "h9RiQLL"})
    yield b"data: [DONE]\n\n"


def _messages(plan: Plan) -> Iterator[bytes]:
    message: dict[str, Any] = {
        "id": "msg_01KA5FNsBbqgNoCkdmFDSnVn",
        "type": "message",
        "role": "assistant",
        "model": "large-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 16, "output_tokens": 1},
    }
    block = {"type": "text", "text": ""}
    yield _event("message_start", message=message)
    yield _event("content_block_start", index=0, content_block=block)
    yield _event("ping")
    for piece in plan.pieces():
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    yield _event("content_block_stop", index=0)
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": plan.chunks})
    yield _event("message_stop")


def _responses(plan: Plan) -> Iterator[bytes]:
    item_id = "msg_0a5d3e8f1b6c7d2e00690d1b2c3d4e5f60718293a4b5c6d7e8"
    response = {"id": "resp_0a5d3e8f1b6c7d2e", "object": "response", "model": "large-4.1"}
    item = {"id": item_id, "type": "message", "role": "assistant"}
    place = {"item_id": item_id, "output_index": 0, "content_index": 0}

    def part(text: str) -> dict[str, Any]:
        return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}

    begun: dict[str, Any] = response | {"status": "in_progress", "output": [], "usage": None}
    yield _event("response.created", sequence_number=0, response=begun)
    yield _event("response.in_progress", sequence_number=1, response=begun)
    opened = item | {"status": "in_progress", "content": []}
    yield _event("response.output_item.added", sequence_number=2, output_index=0, item=opened)
    yield _event("response.content_part.added", sequence_number=3, **place, part=part(""))
    number = 3
    for piece in plan.pieces():
        number += 1
        yield _event(
            "response.output_text.delta",
            sequence_number=number,
            **place,
            delta=piece,
            logprobs=[],
            obfuscation="yhjoJbEF",
        )
    whole = plan.text
    closed = item | {"status": "completed", "content": [part(whole)]}
    last = {"text": whole, "logprobs": []}
    yield _event("response.output_text.done", sequence_number=number + 1, **place, **last)
    yield _event(
        "response.content_part.done", sequence_number=number + 2, **place, part=part(whole)
    )
    done = {"sequence_number": number + 3, "output_index": 0}
    yield _event("response.output_item.done", **done, item=closed)
    tokens = {"input_tokens": 16, "output_tokens": plan.chunks, "total_tokens": 16 + plan.chunks}
    completed = response | {"status": "completed", "output": [closed], "usage": tokens}
    yield _event("response.completed", sequence_number=number + 4, response=completed)


def _event(kind: str, **values: Any) -> bytes:
    return b"event: %b\n%b" % (kind.encode(), _data({"type": kind} | values))


def _data(values: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % json.dumps(values, separators=(",", ":")).encode()


_WIRES: Final = {CHAT: _chat, MESSAGES: _messages, RESPONSES: _responses}
