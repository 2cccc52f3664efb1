"""What R's `init` repeats of a session: who is at work, who waits, what was said.

A and V repeat nothing but the prompt that waits (page 4.1). Read leniently: an
entry of another shape than the wire's is left out.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import MANY
from turnwire.dialects.session_agent.channel import Channel
from turnwire.dialects.session_agent.hello import Hello
from turnwire.dialects.session_agent.wire import Init, MessageData, Pending, Snapshot


class Session(Struct, frozen=True, kw_only=True):
    """A session of R, which runs one prompt at a time, on whichever channel."""

    entries: Sequence[Snapshot]
    turn: Snapshot | None
    """The turn at work."""
    asker: str | None
    """Who asked for what is at work, where that is known."""
    prompt: Snapshot | None
    """The prompt at work whose turn has not begun. Neither: it is not known what is at work."""
    waiting: Sequence[Snapshot]
    """The prompts that wait, in their order."""


class _Session(Struct, frozen=True):
    messages: Annotated[list[Raw], MANY] = []


class _Data(Struct, frozen=True, rename="camel"):
    pending_prompt: Pending | None = None


_STEP: Final = 65_536
"""Bytes of entries that are read at a time, but for those of one entry."""

_LEAST: Final = 256
"""What a short entry counts as."""

_session = msgspec.json.Decoder(_Session).decode
_entry = msgspec.json.Decoder(Snapshot).decode
_data = msgspec.json.Decoder(_Data).decode


def _no_look(_: Snapshot) -> None:
    """Few of them are looked at."""


class Ahead:
    """The entries of a long `init`, which are read before it is heard.

    `look` is what will be asked of all of them: what that reads of their parts is read here, too.
    """

    def __init__(self, look: Callable[[Snapshot], object] = _no_look) -> None:
        self._look = look
        self._entries: list[Snapshot] | None = None

    def read(self, session: Raw) -> Iterator[None]:
        """Read them, in short steps."""
        self._entries = None
        read: list[Snapshot] = []
        looked = 0
        for raw in _messages(session):
            entry = _read(raw)
            looked += max(_LEAST, len(raw))
            if entry is not None:
                self._look(entry)
                read.append(entry)
            if looked >= _STEP:
                yield
                looked = 0
        self._entries = read

    def drop(self) -> None:
        """Keep nothing of an `init` that nobody takes."""
        self._entries = None

    def take(self, session: Raw) -> list[Snapshot]:
        """The entries of the `init` that is heard now, read before or not."""
        read, self._entries = self._entries, None
        return _entries(session) if read is None else read


def session(init: Init, hello: Hello, ahead: Ahead) -> Session:
    """Read what R says.

    A prompt is told when it comes, and waits in its order. So the last that
    does not wait is the one at work, and its turn stands after it.
    """
    entries = ahead.take(init.session)
    asked = [place for place, entry in enumerate(entries) if entry.role == "user"]
    at_work = max(0, len(asked) - max(0, hello.prompts_queued))
    waiting = [entries[place] for place in asked[at_work:]]
    last = asked[at_work - 1] if at_work else -1
    turns = [entry for entry in entries[last + 1 :] if is_turn(entry)]
    turn = turns[-1] if turns and hello.runner_busy and not turns[-1].is_finished else None
    # Where a turn after it is over, that may be its own, or the one that it waited for.
    begins = hello.runner_busy and at_work and not turns
    prompt = entries[last] if begins else None
    asker = entries[last].author_id if at_work else None
    return Session(entries=entries, turn=turn, asker=asker, prompt=prompt, waiting=waiting)


def is_turn(entry: Snapshot) -> bool:
    """Whether this is a turn, and no forwarded entry, whose parts are an object (page 4.2)."""
    return entry.role == "assistant" and bytes(entry.parts).startswith(b"[")


def is_start(told: MessageData) -> bool:
    """Whether a turn begins with it: a forwarded entry has content, or other parts."""
    return told.role == "assistant" and told.content == "" and bytes(told.parts) == b"[]"


def pending(init: Init, channel: Channel) -> str | None:
    """A, V: the prompt that waits, if it is on this channel.

    Where neither its thread nor its channel is told, it is taken for the default channel's.
    """
    try:
        waits = _data(init.data or b"{}").pending_prompt
    except msgspec.DecodeError:
        return None
    return waits.message_id if waits is not None and waits.channel == channel else None


def _entries(session: Raw) -> list[Snapshot]:
    return [entry for entry in map(_read, _messages(session)) if entry is not None]


def _messages(session: Raw) -> list[Raw]:
    try:
        return _session(session or b"{}").messages
    except msgspec.DecodeError:
        return []


def _read(raw: Raw) -> Snapshot | None:
    try:
        return _entry(raw)
    except msgspec.DecodeError:
        return None
