"""The `init` frame: the entries of a session.

`entries` and `each_entry` decode the session of an `init`; `progress` makes
the events of one entry. Decoding is lenient: an entry or a part of an unexpected
shape is left out, and does not hide the rest.

A long frame is prepared first: `prepare_frame` counts the values that it holds,
and an `Ahead` reads its entries in short steps, before the frame is received.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import (
    FIELDS_MAX,
    MANY,
    PARTS_MAX,
    VALUES_MAX,
    ChannelName,
    SomeId,
    Word,
)
from turnwire.core.requests import DEFAULT_CHANNEL, Channel
from turnwire.core.wire import lenient
from turnwire.core.wire.census import census
from turnwire.dialects.v2.frames import HALF_FIELD, Init, decode, named_channel

_STEP: Final = 256
"""Entries and parts that are read in one step. The parts of one entry are never split."""

_CENSUS_LIMITS: Final = {
    # The frame, its session, the session's messages, a message, its parts.
    "init": (5, VALUES_MAX),
    "question": (1, FIELDS_MAX),
}
"""Frame types that are decoded in depth: the depth, and the most values down to that depth."""


class Entry(Struct, frozen=True, rename="camel", dict=True):
    """One prompt or one turn. The cached properties read the parts once; `Ahead` may fill them."""

    id: SomeId = ""
    role: Word = ""
    parts: Annotated[list[Raw], MANY] = []
    prompt_id: SomeId | None = None
    client_message_id: SomeId | None = None
    user_id: Raw = Raw()
    channel_type: ChannelName | None = None
    channel_id: ChannelName | None = None
    queued: bool | None = None
    """Whether this is a prompt that waits: its turn has not begun."""

    @property
    def channel(self) -> Channel:
        return named_channel(self.channel_type, self.channel_id) or DEFAULT_CHANNEL

    @cached_property
    def is_open(self) -> bool:
        """Whether this is a turn that is not over."""
        if self.role != "assistant":
            return False
        # `finish` is the last part, and an operation checks every turn of a session.
        return not any(part.type == "finish" for part in parts(self, backwards=True))

    @cached_property
    def questions(self) -> Mapping[str, bool]:
        """The questions of a turn by id: whether each is open. The last part of an id counts."""
        return {
            part.valid_question_id: part.is_open_question
            for part in parts(self)
            if part.valid_question_id
        }

    @property
    def open_questions(self) -> Collection[str]:
        """The ids of the questions that a turn waits for."""
        return [question_id for question_id, is_open in self.questions.items() if is_open]


class Part(Struct, frozen=True, rename="camel"):
    """A part of any type. A field that its type does not have is empty.

    Fields are `Raw`, because a question has fields of its own, which may have the names of these.
    """

    type: Word
    text: Raw = Raw()
    call_id: Raw = Raw()
    tool_name: Raw = Raw()
    status: Raw = Raw()
    args: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()
    question_id: Raw = Raw()
    answer: Raw = Raw()
    expired: Raw = Raw()
    reason: Raw = Raw()
    message: Raw = Raw()
    url: Raw = Raw()
    mime: Raw = Raw()
    filename: Raw = Raw()
    source_id: Raw = Raw()
    title: Raw = Raw()
    input_text: Raw = Raw()
    preliminary: Raw = Raw()
    data_name: Raw = Raw()
    data_id: Raw = Raw()
    value: Raw = Raw()
    since: Raw = Raw()
    half: Annotated[int, Meta(ge=0, le=0xDBFF)] = msgspec.field(name=HALF_FIELD, default=0)
    """The high surrogate that `text` or `input_text` ends with; the low one may come in the next
    delta."""

    @property
    def valid_question_id(self) -> str | None:
        """The question's id; None if this is no question, or its id is not usable."""
        return safe_json.short_string(self.question_id) if self.type == "question" else None

    @property
    def is_expired(self) -> bool:
        return bytes(self.expired) == b"true"

    @property
    def is_open_question(self) -> bool:
        return self.valid_question_id is not None and not self.answer and not self.is_expired

    @property
    def file(self) -> tuple[str, str] | None:
        """The URL and the media type, if this is a file that has a URL."""
        url = safe_json.string(self.url) if self.type == "file" else None
        return (url, safe_json.short_string(self.mime) or "") if url else None


class _Session(Struct, frozen=True):
    messages: Annotated[list[Raw], MANY] = []


_decode_session = msgspec.json.Decoder(_Session).decode
_decode_entry = msgspec.json.Decoder(Entry).decode
_decode_part = msgspec.json.Decoder(Part).decode
_decode_count = msgspec.json.Decoder(int).decode


def entries(session: Raw) -> list[Entry]:
    """The entries of a session, oldest first."""
    return list(each_entry(session))


def each_entry(session: Raw) -> Iterator[Entry]:
    """The entries of a session, oldest first; each is decoded when the caller gets to it."""
    return lenient.each(_decode_entry, _messages(session))


def part(raw: Raw) -> Part | None:
    """A part of an entry; None if it cannot be decoded."""
    return lenient.field(_decode_part, raw)


def parts(entry: Entry, *, backwards: bool = False) -> Iterator[Part]:
    """The parts of an entry, without those that cannot be decoded."""
    return lenient.each(_decode_part, reversed(entry.parts) if backwards else entry.parts)


def preload_open_questions(entry: Entry) -> object:
    """Fill the cached properties of an entry: `is_open`, and `questions` of an open turn."""
    return entry.is_open and entry.questions


class Ahead:
    """The entries of a long `init`, read before the frame is received.

    `preload` is called with each entry. It reads the cached properties that will be used of all
    entries, so that the parts are decoded in the same short steps.
    """

    __slots__ = ("_entries", "_preload")

    def __init__(self, preload: Callable[[Entry], object] = preload_open_questions) -> None:
        self._preload = preload
        self._entries: list[Entry] | None = None

    def read(self, session: Raw) -> Iterator[None]:
        """Read the entries, in short steps.

        Raises:
            RecursionError: an entry is nested too deeply, although the frame could be decoded.

        """
        self._entries = None
        messages = _messages(session)
        yield
        entries: list[Entry] = []
        count = 0
        for raw in messages:
            count += 1
            with contextlib.suppress(msgspec.DecodeError):
                entry = _decode_entry(raw)
                count += len(entry.parts)
                if len(entry.parts) > PARTS_MAX:
                    entry = msgspec.structs.replace(entry, parts=entry.parts[-PARTS_MAX:])
                self._preload(entry)
                entries.append(entry)
            if count >= _STEP:
                yield
                count = 0
        self._entries = entries

    def take(self, session: Raw) -> Iterable[Entry]:
        """The entries of the `init` that is received now; decoded here if `read` did not run."""
        entries, self._entries = self._entries, None
        return each_entry(session) if entries is None else entries


def _messages(session: Raw) -> list[Raw]:
    decoded = lenient.field(_decode_session, session)
    return [] if decoded is None else decoded.messages


def prepare_frame(raw: bytes, ahead: Ahead) -> Iterator[None]:
    """Count the values of a long frame, and read the entries of an `init`, in short steps.

    Raises:
        TooManyError: the frame holds more values than any agent should send.

    """
    possible_types = safe_json.frame_types(raw, tuple(_CENSUS_LIMITS))
    yield
    if not possible_types:
        return
    depth = max(_CENSUS_LIMITS[kind][0] for kind in possible_types)
    values_max = max(_CENSUS_LIMITS[kind][1] for kind in possible_types)
    yield from census(raw, depth, values_max)
    try:
        frame = decode(raw)
    except (msgspec.DecodeError, RecursionError):
        frame = None  # `receive_frame` counts it
    yield
    if isinstance(frame, Init):
        with contextlib.suppress(RecursionError):  # `receive_frame` counts it
            yield from ahead.read(frame.session)


def waiting_prompts(entries: Iterable[Entry], raw_count: Raw) -> list[Entry]:
    """The prompts that wait: their turn has not begun.

    `raw_count` is the agent's number of them. It is used if the agent marks no prompt as queued:
    then they are the newest prompts that no turn names.
    """
    all_entries = list(entries)
    marked = [entry for entry in all_entries if entry.queued]
    count = max(0, lenient.field(_decode_count, raw_count) or 0)
    if marked or not count:
        return marked
    begun = {entry.prompt_id for entry in all_entries if entry.role == "assistant"}
    prompts = [entry for entry in all_entries if entry.role == "user" and entry.prompt_id]
    return [entry for entry in prompts if entry.prompt_id not in begun][-count:]


def asker(turn: Entry, among: Iterable[Entry]) -> str | None:
    """The user who sent the prompt of a turn; None if no entry says so."""
    prompts = (e for e in among if turn.prompt_id and e.prompt_id == turn.prompt_id)
    return next(filter(None, (safe_json.short_string(e.user_id) for e in (turn, *prompts))), None)


def askers_by_prompt(entries: Iterable[Entry]) -> dict[str, str]:
    """The user of each prompt id, from the first entry that names both."""
    askers: dict[str, str] = {}
    for entry in entries:
        if entry.prompt_id and (user_id := safe_json.short_string(entry.user_id)):
            askers.setdefault(entry.prompt_id, user_id)
    return askers


def asker_from(turn: Entry, askers: Mapping[str, str]) -> str | None:
    """As `asker`, by the result of `askers_by_prompt`."""
    return safe_json.short_string(turn.user_id) or askers.get(turn.prompt_id or "") or None


def client_ids(entries: Iterable[Entry]) -> frozenset[str]:
    """The message ids that clients gave their prompts."""
    return frozenset(e.client_message_id for e in entries if e.client_message_id is not None)


def message_id(turn_id: str, taken_ids: Collection[str]) -> str:
    """The id of a turn's message, as in the turn's own stream; never one of the `taken_ids`."""
    return f"{turn_id}:answer" if turn_id in taken_ids else turn_id


def prompt_text(entry: Entry) -> str:
    """The text of a prompt."""
    return "".join(
        safe_json.string(part.text) or "" for part in parts(entry) if part.type == "text"
    )
