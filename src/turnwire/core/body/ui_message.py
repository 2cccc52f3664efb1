"""Reads the messages of a client leniently: what is malformed is nothing, and raises nothing.

Use: `decoded(raw)` and `decoded_part(raw)`; `outcome_in_steps(part)` says how a tool call ended.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import LONG_BYTES, HandedOn, Word
from turnwire.core.steps import Steps

VALUES_MAX: Final = 200_000
"""A message with more parts is malformed."""

TEXT_BYTES_MAX: Final = 2_097_152
"""Longest text of a part, in bytes of its JSON. A longer one is left out: no model reads so much,
and it is decoded in one go."""

NO_RESULT: Final = "No result"
"""The result of a call that has none in the client's copy."""

DENIED: Final = "The user denied this call"


class UIMessage(Struct):
    role: Raw
    id: Raw = Raw()
    parts: Annotated[list[Raw], Meta(max_length=VALUES_MAX)] | None = None
    content: Raw = Raw()


class UIPart(Struct, rename="camel"):
    """A part of any type. A field of an unexpected type is left out later."""

    type: Word
    text: Raw = Raw()
    tool_call_id: Raw = Raw()
    tool_name: Raw = Raw()
    state: Raw = Raw()
    input: Raw = Raw()
    raw_input: Raw = Raw()
    output: Raw = Raw()
    error_text: Raw = Raw()
    preliminary: Raw = Raw()
    approval: Raw = Raw()


class _Approval(Struct):
    approved: bool | None = None
    reason: HandedOn | None = None


class Outcome(Struct, frozen=True):
    """How a call ended: with JSON, or with the text of an error."""

    output: Raw | None
    error: str | None = None
    is_denied: bool = False


_decode = msgspec.json.Decoder(UIMessage).decode
_decode_part = msgspec.json.Decoder(UIPart).decode
_decode_approval = msgspec.json.Decoder(_Approval).decode


def decoded(raw: Raw) -> UIMessage | None:
    try:
        return _decode(raw)
    except msgspec.ValidationError:
        return None


def decoded_part(raw: Raw) -> UIPart:
    try:
        return _decode_part(raw)
    except msgspec.ValidationError:
        return UIPart("")


def pause_after(raw: Raw) -> Steps[None]:
    """End a step if this took a while to decode."""
    if len(raw) > LONG_BYTES:
        yield


def is_tool(kind: str) -> bool:
    return kind == "dynamic-tool" or kind.startswith("tool-")


def outcome_in_steps(part: UIPart) -> Steps[Outcome]:
    """Return how a call ended. Without an outcome, that is an error."""
    match safe_json.short_string(part.state):
        case "output-available" if bytes(part.preliminary) != b"true":
            output = yield from readable_in_steps(part.output)
            return Outcome(Raw(b"null") if output is None else output)
        case "output-error":
            is_long = len(part.error_text) > TEXT_BYTES_MAX
            error = None if is_long else safe_json.string(part.error_text)
            return Outcome(None, error or NO_RESULT)
        case "output-denied":
            reason = _decoded_approval(part.approval).reason
            return Outcome(None, reason or DENIED, is_denied=True)
        case "approval-responded":
            approval = _decoded_approval(part.approval)
            if approval.approved is False:
                return Outcome(None, approval.reason or DENIED, is_denied=True)
            return Outcome(None, NO_RESULT)  # that it was approved is the client's word
        case _:
            return Outcome(None, NO_RESULT)


def _decoded_approval(raw: Raw) -> _Approval:
    if len(raw) > TEXT_BYTES_MAX:
        return _Approval()
    try:
        return _decode_approval(raw or b"{}")
    except msgspec.ValidationError:
        return _Approval()


def readable_in_steps(raw: Raw) -> Steps[Raw | None]:
    """Return this JSON, if there is any. A decoder skips strings without a check of their UTF-8."""
    data = bytes(raw)
    yield from pause_after(raw)
    data.decode()
    yield from pause_after(raw)
    return Raw(data) if data else None
