"""What a dialect makes of a client's messages: each example runs through the gateway's core."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.body.attachments import Attachment, AttachmentLimits
from turnwire.core.body.conversation import Conversation, ConversationLimits, Write
from turnwire.core.body.conversion import convert_in_steps
from turnwire.core.steps import run_steps
from turnwire.errors import BadRequest

Json = Mapping[str, Any]

_LIMITS: Final = AttachmentLimits(
    hosts=["files.example"], types=["image/*", "audio/*", "video/*", "application/pdf"]
)


class Example(Struct, frozen=True):
    """A message of a client, and what is known of its request."""

    what: str
    role: str
    parts: list[Json]
    with_system: bool = False
    is_prompt: bool = False
    replaced: int = 0
    pending: tuple[str, ...] = ()


Join = Callable[[Sequence[bytes]], Sequence[bytes]]
"""Makes messages of the items that a dialect wrote."""


def _whole(written: Sequence[bytes]) -> Sequence[bytes]:
    return written


def rows(write: Write, join: Join = _whole) -> Iterator[tuple[str, str]]:
    """A row for each example: what the client has, and what the agent is sent."""
    for example in _EXAMPLES:
        yield example.what, _sent(example, write, join)


def _sent(example: Example, write: Write, join: Join) -> str:
    try:
        conversation = _converted(example, write)
    except BadRequest as refused:
        return f"400 “{refused.public}”"
    messages = [json.loads(one) for one in join(conversation.written)]
    for message in messages:
        message.pop("id", None)  # of the client's message, or derived from it
    shown = [f"`{json.dumps(one, ensure_ascii=False)}`" for one in messages]
    shown += [f"left out, counted as “{kind}”" for kind in conversation.left_out]
    return "<br>".join(shown) or "nothing"


def _converted(example: Example, write: Write) -> Conversation:
    message = {"id": "m1", "role": example.role, "parts": example.parts}
    files = [part for part in example.parts if part["type"] == "file"]
    attachments = [Attachment(part["mediaType"], part["url"]) for part in files]
    limits = ConversationLimits(with_system=example.with_system, attachments=_LIMITS)
    raw = Raw(msgspec.json.encode(message))
    return run_steps(
        convert_in_steps(
            [raw],
            write,
            limits,
            prompt_files=attachments if example.is_prompt else None,
            replaced=example.replaced,
            pending=example.pending,
        )
    )


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _file(mime: str, url: str = "https://files.example/f") -> Json:
    return {"type": "file", "mediaType": mime, "url": url}


def _tool(state: str, **more: Any) -> Json:
    fields = {"toolCallId": "c1", "input": {"city": "Rome"}, "state": state}
    return {"type": "tool-weather", **fields, **more}


_PNG: Final = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
_DATA: Final = {**_file("image/png", f"data:image/png;base64,{_PNG}"), "filename": "a.png"}
_REASONING: Final = {"type": "reasoning", "text": "Hm."}
_APPROVED: Final = _tool("approval-responded", approval={"id": "…", "approved": True})

_EXAMPLES: Final = (
    Example("text of the user", "user", [_text("Hi")]),
    Example(
        "several parts of the user", "user", [_text("This?"), _file("image/png"), _text("Or?")]
    ),
    Example("a file as a `data:` URL", "user", [_DATA]),
    Example("a link to a sound", "user", [_file("audio/mpeg")]),
    Example("a link to a film", "user", [_file("video/mp4")]),
    Example("a link to a file of any other type", "user", [_file("application/pdf")]),
    Example("a file that is not accepted", "user", [_text("Hi"), _file("image/png", "ftp://f")]),
    Example("text of the assistant", "assistant", [_text("Hello")]),
    Example("several texts of one step", "assistant", [_text("Hello."), _text("And?")]),
    Example("reasoning", "assistant", [_REASONING, _text("Hello")]),
    Example("a file of the assistant", "assistant", [_DATA, _text("Look")]),
    Example("a call with its output", "assistant", [_tool("output-available", output={"t": 21})]),
    Example("… whose output is a text", "assistant", [_tool("output-available", output="sunny")]),
    Example("… that failed", "assistant", [_tool("output-error", errorText="offline")]),
    Example("… that the user denied", "assistant", [_tool("output-denied")]),
    Example("… without an outcome", "assistant", [_tool("input-available")]),
    Example("… whose input was no JSON", "assistant", [_tool("input-streaming", input='{"ci')]),
    Example("… approved, but the id of the approval is not valid", "assistant", [_APPROVED]),
    Example("… approved, and it is valid", "assistant", [_APPROVED], pending=("c1",)),
    Example(
        "text after a call, or after `step-start`",
        "assistant",
        [_text("I look."), _tool("output-available", output="sunny"), _text("Sun.")],
    ),
    Example("data parts", "assistant", [{"type": "data-chart", "data": 1}, _text("Hello")]),
    Example("sources", "assistant", [{"type": "source-url", "url": "…"}, _text("Hello")]),
    Example("an empty message", "assistant", []),
    Example("a system message", "system", [_text("Be brief.")]),
    Example("… with `TURNWIRE_CLIENT_SYSTEM`", "system", [_text("Be brief.")], with_system=True),
    Example("a message of any other role", "tool", [_text("Hi")]),
    Example("half of a character in a text", "user", [_text("Hi \ufffd")], replaced=1),
    Example("a part of a type that is not known", "user", [{"type": "hologram"}, _text("Hi")]),
    Example("… in the new prompt", "user", [{"type": "hologram"}, _text("Hi")], is_prompt=True),
)
