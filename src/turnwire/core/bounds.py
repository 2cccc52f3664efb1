"""What may be held, and for whom: the one place that states it.

Nothing that one agent or one user sends may take what others need. So everything that is kept
of what came in has a bound, and whoever sent it pays for what is over it:

* a *string* that is kept has its longest length in its type, which is one of those below. One
  that is longer makes its frame malformed, and the frame is dropped. Text that is handed on at
  once is `HandedOn`: it is as long as its frame may be, and nobody keeps it.
* a *collection* has a number of entries, past which the oldest is forgotten or the newest refused.
* a *frame* is looked into before it is decoded where much would be built of it (`core.census`).
* a *user* has `TURNWIRE_HELD_BYTES_PER_USER` for several requests, and so many streams and errands;
* a *process* has `TURNWIRE_HELD_BYTES` for all that is held at once (`relay.budget`).

tests/core/test_bounds.py walks the structs of all wires, and docs/scale.md adds up what follows.
"""

from typing import Annotated, Final, TypeAlias

from msgspec import Meta

ID_MAX: Final = 512
"""Longest id of a turn, a prompt, a call, a question, a user, in characters."""

CHANNEL_MAX: Final = 256
"""Longest type or id of a channel, in characters."""

WORD_MAX: Final = 256
"""Longest word that a wire has for something: a type, a status, a role."""

KEPT_BYTES_MAX: Final = 65_536
"""Longest payload of a question that is kept to be told again, in bytes."""

WAITING_BYTES_MAX: Final = 1_048_576
"""Payloads of questions, in all, that wait until it is known what a client has of its turn."""

FIELDS_MAX: Final = 1_000
"""Most fields of a question."""

LONG_BYTES: Final = 65_536
"""A longer frame is looked into before it is decoded, and alone. What can be built of a shorter
one takes a few mebibytes, and milliseconds."""

VALUES_MAX: Final = 150_000
"""Most values of a long frame in the places where they are taken apart. A history of five thousand
turns with ten parts each has half as many."""

SKIPPED_MAX: Final = 4_000_000
"""Most values of a long frame in all: what is carried along is skipped, which takes a while too."""

PARTS_MAX: Final = 5_000
"""Parts of a message that are read, the last ones: to read them takes 30 ms, in one go."""

DEPTH_MAX: Final = 1_000
"""Deepest nesting of a long frame: what is deeper, no decoder here reads."""

MALFORMED_MAX: Final = 1_000
"""Frames of one connection that cannot be read, before they must be the smaller part of all."""

MALFORMED_BYTES: Final = 16_384
"""A longer one counts as another for each of these."""

CONTROLS_MAX: Final = 500
"""Pings and pongs of an agent at once, before there may be `CONTROLS_PER_S`."""

CONTROLS_PER_S: Final = 10.0

FRAGMENTS_MAX: Final = 1_000
"""Fragments of one message, before they must be of `FRAGMENT_BYTES` each, on average."""

FRAGMENT_BYTES: Final = 256

Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=ID_MAX)]
SomeId: TypeAlias = Annotated[str, Meta(max_length=ID_MAX)]
"""One that may be empty, which is as good as none."""
ChannelName: TypeAlias = Annotated[str, Meta(max_length=CHANNEL_MAX)]
Word: TypeAlias = Annotated[str, Meta(max_length=WORD_MAX)]
HandedOn: TypeAlias = Annotated[str, Meta(extra={"kept": False})]

MANY: Final = Meta(max_length=VALUES_MAX)
"""Of a list that is taken apart, whose frame was counted before (`core.census`) if it is long."""
FEW: Final = Meta(max_length=FIELDS_MAX)
"""Of an object whose fields are all read."""
