"""Any messages of a client, as property tests draw them, and what a wire makes of them."""

import base64
from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import Raw

from turnwire.core.body.attachments import AttachmentLimits
from turnwire.core.body.conversation import Conversation, ConversationLimits, Write
from turnwire.core.body.conversion import convert_in_steps
from turnwire.core.steps import run_steps

LIMITS = AttachmentLimits(hosts=["files.example"], types=["image/*", "video/*", "text/*"])

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
IDS = st.sampled_from(["a", "b", "a:1", "a:2", "c:result"])
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
FILES = st.sampled_from(
    [
        ("image", "image/png", "data", PNG, f"data:image/png;base64,{PNG}"),
        ("document", "text/plain", "data", "QUJD", "data:text/plain;base64,QUJD"),
        ("video", "video/mp4", "url", *["https://files.example/v"] * 2),
    ]
)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _file(kind: Any) -> dict[str, Any]:
    return {"type": "file", "mediaType": kind[1], "url": kind[4], "filename": "f"}


def _tool(state: str, call_id: str, name: str, input_: Any, value: Any) -> dict[str, Any]:
    error = value if isinstance(value, str) else "broken"
    fields: dict[str, dict[str, Any]] = {
        "output-available": {"output": value},
        "output-error": {"errorText": error},
        "output-denied": {},
        "approval-responded": {"approval": {"id": "x", "approved": True}},
        "input-streaming": {},
    }
    tool = {"type": f"tool-{name}", "toolCallId": call_id, "input": input_, "state": state}
    return tool | fields[state]


STATES = ["output-available", "output-error", "output-denied", "approval-responded"]
TOOLS = st.builds(
    _tool,
    st.sampled_from([*STATES, "input-streaming"]),
    IDS,
    st.sampled_from(["add", "get"]),
    st.dictionaries(TEXTS, JSON, max_size=2),
    JSON,
)
OTHERS = st.sampled_from(
    [{"type": "reasoning", "text": "hm"}, {"type": "data-x", "data": 1}, {"type": "source-url"}]
)
STEPS = st.just({"type": "step-start"})
USER = st.builds(
    lambda message_id, parts: {"id": message_id, "role": "user", "parts": parts},
    IDS,
    st.lists(TEXTS.map(_text) | FILES.map(_file) | OTHERS, max_size=4),
)
ASSISTANT = st.builds(
    lambda message_id, parts: {"id": message_id, "role": "assistant", "parts": parts},
    IDS,
    st.lists(TEXTS.map(_text) | TOOLS | STEPS | OTHERS | FILES.map(_file), max_size=6),
)


def converted(messages: Sequence[Any], write: Write) -> Conversation:
    raws = [Raw(msgspec.json.encode(one)) for one in messages]
    return run_steps(convert_in_steps(raws, write, ConversationLimits(attachments=LIMITS)))


APPROVED = {
    "type": "tool-rm",
    "toolCallId": "c1",
    "input": {},
    "state": "approval-responded",
    "approval": {"id": "signed", "approved": True},
}
"""A part: a call that a user approved, and that has not run."""
