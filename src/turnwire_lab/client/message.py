"""A message as a chat holds it: put together from chunks, or read from the history.

The same turn gives the same parts either way.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Raw, Struct

from turnwire_lab.client.chunks import DATA, Data
from turnwire_lab.client.errors import Malformed
from turnwire_lab.client.question import Question, question

State = Literal["streaming", "done"]
Stage = Literal[
    "input-streaming",
    "input-available",
    "approval-requested",
    "output-available",
    "output-error",
    "output-denied",
]


class StepStart(Struct):
    pass


class Text(Struct):
    text: str
    state: State = "done"


class Reasoning(Struct):
    text: str
    state: State = "done"


class Tool(Struct, kw_only=True, rename="camel"):
    name: str
    tool_call_id: str
    state: Stage = "input-streaming"
    input: Any = None
    output: Any = None
    error_text: str | None = None
    approval_id: str | None = None


class File(Struct, rename="camel"):
    url: str
    media_type: str
    filename: str | None = None


class Source(Struct, rename="camel"):
    source_id: str
    url: str
    title: str | None = None


Part: TypeAlias = StepStart | Text | Reasoning | Tool | File | Source | Question | Data


class UIMessage(Struct):
    id: str
    role: Literal["user", "assistant"]
    parts: list[Part] = []
    metadata: Any = None

    @property
    def text(self) -> str:
        """All text of it, in its order."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))


class _Message(Struct):
    id: str
    role: Literal["user", "assistant"]
    parts: Sequence[Raw]
    metadata: Any = None


class _Named(Struct):
    type: str


class _Data(Struct):
    type: str
    data: Any
    id: str | None = None


class _Approval(Struct):
    id: str


class _Tool(Struct, rename="camel"):
    tool_call_id: str
    state: Stage
    input: Any = None
    output: Any = None
    error_text: str | None = None
    approval: _Approval | None = None


_history = msgspec.json.Decoder(list[_Message]).decode
_named = msgspec.json.Decoder(_Named).decode
_text = msgspec.json.Decoder(Text).decode
_reasoning = msgspec.json.Decoder(Reasoning).decode
_file = msgspec.json.Decoder(File).decode
_source = msgspec.json.Decoder(Source).decode
_tool = msgspec.json.Decoder(_Tool).decode
_data = msgspec.json.Decoder(_Data).decode


def read(history: bytes) -> list[UIMessage]:
    """Read `UIMessage[]`.

    Raises:
        Malformed: it is something else.

    """
    try:
        return [
            UIMessage(entry.id, entry.role, [_part(raw) for raw in entry.parts], entry.metadata)
            for entry in _history(history)
        ]
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Malformed("the history is no list of messages") from error


def _part(raw: Raw) -> Part:
    kind = _named(raw).type
    match kind:
        case "step-start":
            return StepStart()
        case "text":
            return _text(raw)
        case "reasoning":
            return _reasoning(raw)
        case "file":
            return _file(raw)
        case "source-url":
            return _source(raw)
        case _ if kind.startswith("tool-"):
            call = _tool(raw)
            return Tool(
                name=kind.removeprefix("tool-"),
                tool_call_id=call.tool_call_id,
                state=call.state,
                input=call.input,
                output=call.output,
                error_text=call.error_text,
                approval_id=None if call.approval is None else call.approval.id,
            )
        case _ if kind.startswith(DATA):
            data = _data(raw)
            if kind == "data-question" and data.id is not None:
                return question(data.id, data.data)
            return Data(kind.removeprefix(DATA), data.data, data.id)
        case _:
            raise Malformed(f"a message has a part of a type that nobody knows: {kind!r}")
