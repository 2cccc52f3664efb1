"""The limits on what is kept of an agent's frames, in one place.

No agent and no user may take memory or time that others need. So everything that is kept
of the input has a limit, and the sender of the excess bears the consequence:

* a *string* that is kept has its longest length in its type, which is one of those below. A
  longer one makes its frame malformed, and the frame is dropped. Text that goes out at once and
  is not kept has the type `HandedOn`: it may be as long as its frame.
* a *collection* has a number of entries. Beyond that number, the oldest entry is forgotten or the
  newest one is refused.
* a *frame* that could decode to very many objects is counted before it is decoded
  (`core.wire.census`).
* a *user* has `TURNWIRE_HELD_BYTES_PER_USER` for several requests, and limited numbers of streams
  and operations;
* a *process* has `TURNWIRE_HELD_BYTES` for all that is held at once (`relay.memory_budget`).

Limits on what a client sends stand with the code that reads it (`core.body`, `core.approvals`,
`web.request`, `web.routes.operations`, `web.server`).

tests/core/test_bounds.py walks the structs of all wires. docs/scale.md adds up the result.
"""

from typing import Annotated, Final, TypeAlias, TypeVar

from msgspec import Meta

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

ID_MAX: Final = 512
"""Longest id of a turn, a prompt, a call, a question, a user, in characters."""

CHANNEL_MAX: Final = 256
"""Longest type or id of a channel, in characters."""

WORD_MAX: Final = 256
"""Longest keyword on a wire (a type, a status, a role), in characters."""

KEPT_BYTES_MAX: Final = 65_536
"""Longest payload of a question that is kept to be sent again, in bytes."""

WAITING_BYTES_MAX: Final = 1_048_576
"""Most bytes of question payloads, in all, that wait until the gateway knows which parts of the
turn the client has."""

OPEN_QUESTIONS_MAX: Final = 64
"""Most questions of one turn that are open at once."""

INPUT_BYTES_MAX: Final = 262_144
"""Most bytes of tool inputs that come in pieces, in all open calls of a turn together."""

DATA_NAME: Final = r"^[A-Za-z0-9_-]{1,64}\Z"
"""The names that a data part may have."""

DATA_PARTS_MAX: Final = 256
"""Most data parts of one turn whose ids are kept. Of more, the oldest is forgotten."""

OPEN_BLOCKS_MAX: Final = 64
"""Most blocks of text or of reasoning of one turn that are open at once. Of more, the oldest one
is ended."""

FIELDS_MAX: Final = 1_000
"""Most fields of a question."""

LONG_BYTES: Final = 65_536
"""A longer frame is handled alone, and is counted before it is decoded. A shorter one decodes to at
most a few mebibytes, in milliseconds."""

VALUES_MAX: Final = 150_000
"""Most values of a long frame at the depths that are decoded. A history of five thousand turns with
ten parts each has half as many."""

SKIPPED_MAX: Final = 4_000_000
"""Most values of a long frame in all: values that are not decoded are skipped, which takes time
too."""

PARTS_MAX: Final = 5_000
"""Most parts of a message that are read; of more, the last ones. Reading them takes 30 ms without
a pause."""

DEPTH_MAX: Final = 1_000
"""Deepest nesting of a long frame. No decoder here reads deeper levels."""

MALFORMED_MAX: Final = 1_000
"""Unreadable frames that one connection may have, where `MALFORMED_BYTES` of one count as one more.
Beyond these, at most half of its frames may be unreadable."""

MALFORMED_BYTES: Final = 16_384
"""A longer unreadable frame counts once more for each such number of bytes."""

CONTROLS_MAX: Final = 500
"""Pings and pongs that an agent may send in a burst. Beyond that, `CONTROLS_PER_S` applies."""

CONTROLS_PER_S: Final = 10.0

FRAGMENTS_MAX: Final = 1_000
"""Fragments that one message may have in any size. Beyond that, they must be of `FRAGMENT_BYTES`
each, on average."""

FRAGMENT_BYTES: Final = 256

Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=ID_MAX)]
SomeId: TypeAlias = Annotated[str, Meta(max_length=ID_MAX)]
"""An id that may be empty. An empty id counts as no id."""
ChannelName: TypeAlias = Annotated[str, Meta(max_length=CHANNEL_MAX)]
DataName: TypeAlias = Annotated[str, Meta(max_length=64, pattern=DATA_NAME)]
Word: TypeAlias = Annotated[str, Meta(max_length=WORD_MAX)]
HandedOn: TypeAlias = Annotated[str, Meta(extra={"kept": False})]

MANY: Final = Meta(max_length=VALUES_MAX)
"""Limit of a list that is decoded. If its frame is long, it was counted before
(`core.wire.census`)."""
FEW: Final = Meta(max_length=FIELDS_MAX)
"""Limit of an object whose fields are all read."""


def keep(entries: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Add or replace an entry. If that makes more than `most` entries, forget the oldest one."""
    if key not in entries and len(entries) >= most:
        del entries[next(iter(entries))]
    entries[key] = value
