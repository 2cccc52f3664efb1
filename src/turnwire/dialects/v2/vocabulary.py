"""What is known of the `v2` wire (see `core.vocabulary`)."""

from typing import Final

from msgspec import Raw, Struct

from turnwire.core.vocabulary import Vocabulary, names
from turnwire.dialects.v2.frames import KNOWN
from turnwire.dialects.v2.hydration import Entry, Part

_PLACE: Final = names("turnId promptId userId channelType channelId")
"""What any frame may say of where it belongs."""


class _Session(Struct):
    id: str
    status: str
    messages: Raw


VOCABULARY: Final = Vocabulary(
    frames=KNOWN,
    deltas=names("chunk message.part.text-delta message.part.reasoning-delta"),
    unread={
        **{
            str(kind.__struct_config__.tag): _PLACE
            for kind in KNOWN
            if kind.__struct_config__.tag != "init"
        },
        "question": names("*"),  # whatever the client should see of it
        "message.part.file": _PLACE | names("filename"),
        "user.joined": names("*"),
        "init.session": names("title workspace createdAt"),
        "init.session.messages": names("content createdAt"),
        "init.session.messages.parts": names("*"),  # those of a question, too
    },
    inside={
        "init.session": _Session,
        "init.session.messages": Entry,
        "init.session.messages.parts": Part,
    },
    types={
        "init.session.messages.parts": names(
            "text reasoning tool-call question finish error file source"
        )
    },
    kept=names("promptsQueued"),
)
