"""The wire schema of `ui-stream`, for drift detection and redaction (see `core.wire.schema`)."""

from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import HandedOn
from turnwire.core.wire.schema import WireSchema, names
from turnwire.dialects.ui_stream.frames import DATA, DONE, KNOWN


class _Data(Struct, tag=DATA):
    """Data parts of all names."""

    data: Raw
    id: Raw
    transient: Raw


class _Head(Struct):
    type: HandedOn


_OF_A_CALL: Final = names("providerExecuted providerMetadata dynamic title toolMetadata")

_decode_head = msgspec.json.Decoder(_Head).decode


def _type_of(frame: bytes) -> str:
    """Return the type of a chunk. An agent completes that of a data part with names of its own."""
    kind = _decode_head(frame).type
    return DATA if kind.startswith(DATA) else kind


SCHEMA: Final = WireSchema(
    frames=(*KNOWN, _Data),
    deltas=names("text-delta reasoning-delta tool-input-delta"),
    unread={
        "text-start": names("providerMetadata"),
        "text-delta": names("providerMetadata"),
        "text-end": names("providerMetadata citations"),
        "reasoning-start": names("providerMetadata"),
        "reasoning-delta": names("providerMetadata"),
        "start": names("messageId messageMetadata"),
        "tool-input-start": _OF_A_CALL | names("inputEncoding"),
        "tool-input-available": _OF_A_CALL,
        "tool-input-error": _OF_A_CALL,
        "tool-output-available": _OF_A_CALL,
        "tool-output-error": _OF_A_CALL,
        "tool-approval-request": names("approvalDescriptor inputSchemaInput"),
        "source-url": names("providerMetadata"),
        "file": names("providerMetadata"),
        "finish": names("messageMetadata"),
    },
    inside={},
    types={},
    kept=names("toolName finishReason"),
    phrases=(DONE.decode(),),
    type_of=_type_of,
    hidden=names(
        "*.data *.messageMetadata *.providerMetadata *.toolMetadata *.signature *.citations"
        " *.approvalDescriptor *.inputSchemaInput *.parts"
    ),
)
