"""Reads the pieces of calls, whatever types their fields have."""

from typing import Final

from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import ID_MAX
from turnwire.core.wire import call_ids
from turnwire.dialects.openai_chat.frames import ToolCall, is_set

_DIGITS_MAX: Final = 9
"""Most digits of an index."""


class Piece(Struct, frozen=True):
    """What a piece of a call says. An empty string: nothing."""

    index: int | None
    call_id: str
    """Of an id that is too long, it ends with a hash (`core.wire.call_ids`)."""
    name: str
    text: str
    """A part of the input."""


def read(tool_call: ToolCall) -> Piece:
    """Read a piece. Some servers send numbers as strings, ids as numbers, and an input as JSON."""
    name, given = Raw(), Raw()
    if tool_call.function is not None:
        name, given = tool_call.function.name, tool_call.function.arguments
    elif tool_call.custom is not None:
        name, given = tool_call.custom.name, tool_call.custom.input
    index = text_of(tool_call.index)
    return Piece(
        index=int(index) if index.isdecimal() and len(index) <= _DIGITS_MAX else None,
        call_id=call_ids.shortened(text_of(tool_call.id)),
        name=(safe_json.string(name) or "")[:ID_MAX],
        text=text_of(given),
    )


def text_of(raw: Raw) -> str:
    """Return a string, or any other value as JSON; empty for null."""
    text = safe_json.string(raw)
    if text is None:
        return bytes(raw).decode() if is_set(raw) else ""
    return text
