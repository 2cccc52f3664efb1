"""The wire schema of `v2`, for drift detection and redaction (see `core.wire.schema`)."""

from typing import Final

from msgspec import Raw, Struct

from turnwire.core.wire.schema import WireSchema, names
from turnwire.dialects.v2.frames import KNOWN
from turnwire.dialects.v2.init import Entry, Part

_ROUTING_FIELDS: Final = names("turnId promptId userId channelType channelId")
"""Fields with which any frame may name the turn it belongs to."""


class _Session(Struct):
    id: str
    status: str
    messages: Raw


SCHEMA: Final = WireSchema(
    frames=KNOWN,
    deltas=names(
        "chunk message.part.text-delta message.part.reasoning-delta message.part.tool-input-delta"
    ),
    unread={
        **{
            str(kind.__struct_config__.tag): _ROUTING_FIELDS
            for kind in KNOWN
            if kind.__struct_config__.tag != "init"
        },
        "question": names("*"),  # an agent may send any field for the client
        "message.part.file": _ROUTING_FIELDS | names("filename"),
        "user.joined": names("*"),
        "init.session": names("title workspace createdAt"),
        "init.session.messages": names("content createdAt"),
        "init.session.messages.parts": names("*"),  # includes the fields of a question
    },
    inside={
        "init.session": _Session,
        "init.session.messages": Entry,
        "init.session.messages.parts": Part,
    },
    types={
        "init.session.messages.parts": names(
            "text reasoning tool-call question finish error file source data step retract"
        )
    },
    kept=names("promptsQueued dataName since finishReason"),
)
