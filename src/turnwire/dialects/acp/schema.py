"""The wire schema of `acp`, for drift detection and redaction (see `core.wire.schema`)."""

from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import Word
from turnwire.core.wire.schema import WireSchema, names
from turnwire.dialects.acp import frames

RESPONSE: Final = "response"


class _Known(Struct):
    """A message whose fields are not compared."""


def _known(tag: str) -> type[Struct]:
    return msgspec.defstruct("_Known", [], bases=(_Known,), tag=tag)


_UPDATES: Final = tuple(str(kind.__struct_config__.tag) for kind in frames.Update.__args__)


class _Kind(Struct, frozen=True, rename="camel"):
    session_update: Word = ""


class _Params(Struct):
    update: _Kind = _Kind()


class _Head(Struct):
    method: Word | None = None
    params: Raw = Raw(b"{}")


_decode_head = msgspec.json.Decoder(_Head).decode
_decode_params = msgspec.json.Decoder(_Params).decode


def _type_of(frame: bytes) -> str:
    """Return the kind of an update, the method of any other message, or that it is a response."""
    head = _decode_head(frame)
    if head.method is None:
        return RESPONSE
    if head.method != frames.UPDATE:
        return head.method
    return _decode_params(head.params).update.session_update or head.method


_ABILITIES: Final = "*.result.agentCapabilities"
_READ: Final = names(
    "*.result.sessionId *.result.stopReason *.result.protocolVersion"
    f" {_ABILITIES}.loadSession {_ABILITIES}.sessionCapabilities.resume"
    f" {_ABILITIES}.promptCapabilities.image {_ABILITIES}.promptCapabilities.audio"
    f" {_ABILITIES}.promptCapabilities.embeddedContext"
)
"""What is read of a result, which may hold anything beside it."""

SCHEMA: Final = WireSchema(
    frames=tuple(
        map(_known, (*_UPDATES, RESPONSE, frames.PERMISSION, frames.UPDATE, frames.WITHDRAW))
    ),
    deltas=names("agent_message_chunk agent_thought_chunk"),
    unread={},
    inside={},
    types={},
    kept=names(
        "jsonrpc method sessionUpdate stopReason protocolVersion id requestId code status kind"
    ),
    phrases=("http://", "https://", frames.WITHDRAW),
    ids=names("sessionId"),
    type_of=_type_of,
    hidden=names(
        "*.result *.error.data *.params._meta *.params.update._meta"
        " *.params.update.rawInput *.params.update.rawOutput *.params.toolCall.rawInput"
        " *.params.update.locations *.params.toolCall.locations"
        " *.params.update.content.path *.params.toolCall.content.path"
    ),
    read=_READ,
)
