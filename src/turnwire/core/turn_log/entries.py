"""Entries: the events of a turn as bytes, in the form that a turn log keeps.

An entry is one MessagePack value. A text delta is a bare string, since a turn has far more of them
than other events; so deltas that are repeated are cut as they were. Any other entry is an array of
its number in `_TYPES` and its fields. Entries in a row are concatenated. A *frame* is such a row
with the head of an array before it (`frame`, `read`).

The first frame that a reader gets says whether there is a turn: `Absent`, `TooLong`, or `Head`
and `Joined`. After `Joined` come the ends of the questions that are closed already.

Another process may read what this one writes, and may run another release. So `Head` has the
version of the form: a reader of another version ends, since a wrong turn is worse than none.
"""

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, get_args, get_type_hints

import msgspec
from msgspec import Raw, Struct
from msgspec.msgpack import Ext

from turnwire.core import events
from turnwire.core.events import Event, QuestionClosed, TextDelta
from turnwire.core.requests import QuestionReply

VERSION: Final = 2
"""Raise it with every change that a reader of the former version would understand wrongly."""

_HALF: Final = 1
"""Code of the extension type for a string with half of a surrogate pair, which is no UTF-8."""

_SHORT_MAX, _MEDIUM_MAX = 15, 65_535
"""The greatest length of an array whose head has 1 byte, and 3 bytes. Other heads have 5."""

_SHORT_HEAD = 0x90

_LONG_HEAD: Final = b"\xdd"

_FRAME_OF_ONE: Final = _LONG_HEAD + bytes((0, 0, 0, 1))

FRAME_HEAD_BYTES: Final = 5
"""What a frame has before its entries."""


TEXTS: Final = 64
TEXT_LENGTH: Final = 256
"""Most deltas that wait in a log to be packed together, and the longest, in characters."""


class UnreadableError(ValueError):
    """A frame is not of this version, or damaged."""


class Head(Struct, frozen=True):
    """Whose turn it is."""

    prompt_id: str
    user_id: str
    """Who sent the prompt."""
    client_message_id: str | None = None
    """The client's id of the prompt. The answer never has the same id."""
    version: int = VERSION


class Joined(Struct, frozen=True):
    """A reader joins the turn: how many entries there are already.

    `is_received`: the turn is over, and a client received all of it.
    """

    backlog: int
    is_received: bool = False


class Absent(Struct, frozen=True):
    """There is no turn to read."""


class TooLong(Struct, frozen=True):
    """The turn is longer than the log keeps."""


Entry: TypeAlias = Event | Head | Joined | Absent | TooLong

_TYPES: Final[dict[int, type[Entry]]] = {
    0: Head,
    1: Joined,
    2: Absent,
    3: TooLong,
    4: events.TurnStarted,
    5: events.ReasoningDelta,
    6: events.ToolUpdate,
    7: events.FilePart,
    8: events.SourceUrl,
    9: events.AgentStatus,
    10: events.Question,
    11: events.QuestionClosed,
    12: events.TurnFinished,
    13: events.Queued,
    14: events.TextBreak,
    15: events.ToolInputDelta,
    16: events.DataPart,
    17: events.TextSwitch,
    18: events.StepStarted,
    19: events.PartsRetracted,
}
"""The number of each entry but text deltas. A number never gets another meaning.

`Replied` and those that begin with `Replay` are about one client, and not about the turn.
"""

_NUMBERS: Final = {entry_type: number for number, entry_type in _TYPES.items()}
_FIELDS: Final = {
    entry_type: list(get_type_hints(entry_type).items())
    for entry_type in (*_TYPES.values(), events.Approval)
}


def _mark(entry_type: type[Entry]) -> bytes:
    """Return how the entries of this type begin."""
    return bytes([_SHORT_HEAD + 1 + len(_FIELDS[entry_type]), _NUMBERS[entry_type]])


_QUESTION, _CLOSED, _FINISHED = (
    _mark(entry_type) for entry_type in (events.Question, QuestionClosed, events.TurnFinished)
)
"""How the entries begin that open or close a question."""

_STARTED_MARK: Final = _mark(events.TurnStarted)

_DAMAGES: Final = (msgspec.MsgspecError, ValueError, TypeError, LookupError, RecursionError)
"""What the decoding of damaged bytes raises."""

_pack = msgspec.msgpack.Encoder().encode


def pack(entry: Entry) -> bytes:
    """Return the bytes of an entry."""
    if isinstance(entry, TextDelta):
        return pack_texts([entry.text])
    values = [_NUMBERS[type(entry)], *_values(entry)]
    try:
        return _pack(values)
    except UnicodeEncodeError:
        return _pack(_without_halves(values))


def pack_texts(texts: Sequence[str]) -> bytes:
    """Return the bytes of text deltas in a row: as many entries as there are `texts`."""
    try:
        if len(texts) == 1:
            return _pack(texts[0])
        packed = _pack(texts)
    except UnicodeEncodeError:
        packed = _pack(_without_halves(texts))
    return packed[_head_bytes(len(texts)) :]


def frame_of_texts(texts: Sequence[str]) -> bytes:
    """Return the frame of text deltas in a row."""
    if len(texts) == 1:  # as most are
        try:
            return _FRAME_OF_ONE + _pack(texts[0])
        except UnicodeEncodeError:
            pass
    return frame(pack_texts(texts), len(texts))


def frame(packed: bytes | bytearray, count: int) -> bytes:
    """Return the frame of `count` entries in a row."""
    return _LONG_HEAD + count.to_bytes(4, "big") + packed


def count_of(data: bytes) -> int:
    """Return how many entries a frame has."""
    return int.from_bytes(data[1:5], "big")


def read(data: bytes) -> list[Entry]:
    """Return the entries of a frame.

    Raises:
        UnreadableError: the frame has another version, or is damaged.

    """
    try:
        return [
            TextDelta(value) if type(value) is str else _entry(value) for value in _decode(data)
        ]
    except _DAMAGES as exc:
        raise UnreadableError(str(exc)) from exc


def read_head(packed: bytes) -> Head:
    """Return the head of a turn.

    Raises:
        UnreadableError: as `read`.

    """
    entry, *_ = read(frame(packed, 1))
    if not isinstance(entry, Head):
        raise UnreadableError(f"no head: {entry}")
    return entry


def absent() -> bytes:
    """Return the first frame where there is no turn."""
    return frame(pack(Absent()), 1)


def too_long() -> bytes:
    """Return the first frame of a turn that the log could not keep."""
    return frame(pack(TooLong()), 1)


def opening(head: bytes, joined: Joined, closed: Iterable[QuestionClosed] = ()) -> bytes:
    """Return the first frame of a turn: its `Head`, packed, and what a reader must know first."""
    rows = [head, pack(joined), *map(pack, closed)]
    return frame(b"".join(rows), len(rows))


class QuestionEnds:
    """The questions of a turn that are closed, each with its last end. Frames come in order."""

    __slots__ = ("_ends", "_open_ids")

    def __init__(self) -> None:
        self._open_ids: dict[str, None] = {}
        self._ends: dict[str, QuestionClosed] = {}

    def add(self, data: bytes) -> bool:
        """Note what a frame opens and closes. Return whether it has any of that.

        A frame without a question is hardly read.

        Raises:
            UnreadableError: as `read`.

        """
        if not (_QUESTION in data or _CLOSED in data or _FINISHED in data):  # each frame comes here
            return False
        for entry in read(data):
            if isinstance(entry, events.Question):
                self._open_ids[entry.question_id] = None
                self._ends.pop(entry.question_id, None)
            elif isinstance(entry, QuestionClosed):
                if self._open_ids.pop(entry.question_id, True) is None:
                    self._ends[entry.question_id] = entry
            elif isinstance(entry, events.TurnFinished):
                self._ends |= {each: QuestionClosed(each, expired=True) for each in self._open_ids}
        return True

    def all(self) -> Iterable[QuestionClosed]:
        """Return them."""
        return self._ends.values()


def closed_questions(frames: Iterable[bytes]) -> Iterator[QuestionClosed | None]:
    """Find the questions of these frames that are closed, each with its last end.

    Works in steps: yields None after each frame, and the ends after the last one.

    Raises:
        UnreadableError: as `read`.

    """
    ends = QuestionEnds()
    for data in frames:
        ends.add(data)
        yield None
    yield from ends.all()


def are_closed(replies: Sequence[QuestionReply], closed: Iterable[QuestionClosed | None]) -> bool:
    """Whether each of these answers is to one of the closed questions."""
    closed_ids = {each.question_id for each in closed if each is not None}
    return all(reply.question_id in closed_ids for reply in replies)


def turn_ids(frames: Iterable[bytes]) -> list[str]:
    """Return the ids that the turn of these frames had, the first one first.

    Raises:
        UnreadableError: as `read`.

    """
    read_entries = (entry for data in frames if _STARTED_MARK in data for entry in read(data))
    return [entry.turn_id for entry in read_entries if isinstance(entry, events.TurnStarted)]


def _values(entry: Struct) -> list[object]:
    return [_value(getattr(entry, name)) for name in entry.__struct_fields__]


def _value(value: object) -> object:
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, enum.Enum):
        return value.value
    return _values(value) if isinstance(value, Struct) else value


def _without_halves(value: Any) -> Any:
    """Return the value with each string that is no UTF-8 as an extension."""
    match value:
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                return Ext(_HALF, value.encode(errors="surrogatepass"))
            return value
        case list() | tuple():
            return [_without_halves(each) for each in value]
        case _:
            return value


def _half(code: int, data: memoryview) -> str:
    if code != _HALF:
        raise UnreadableError(f"unknown extension {code}")
    return bytes(data).decode(errors="surrogatepass")


_decode = msgspec.msgpack.Decoder(list[Any], ext_hook=_half).decode


def _entry(values: list[Any]) -> Entry:
    entry_type = _TYPES[values[0]]
    entry: Entry = _build(entry_type, values[1:])
    if isinstance(entry, Head) and entry.version != VERSION:
        raise UnreadableError(f"version {entry.version}")
    return entry


def _build(entry_type: type[Any], values: list[Any]) -> Any:
    """Make an entry of its values. Fields at its end may be missing, if they have defaults."""
    fields = _FIELDS[entry_type]
    if len(values) > len(fields):
        raise UnreadableError(f"too many fields of {entry_type.__name__}")
    return entry_type(
        **{name: _checked(hint, value) for (name, hint), value in zip(fields, values, strict=False)}
    )


def _checked(hint: Any, value: Any) -> Any:
    """Return the value of a field of this type."""
    for kind in get_args(hint) or (hint,):
        if kind is Raw and type(value) is bytes:
            value = Raw(value)
        elif kind is events.Approval and value is not None:
            value = _build(kind, value)
        elif isinstance(kind, enum.EnumType):
            value = kind(value)
    if not isinstance(value, hint):
        raise UnreadableError(f"{type(value).__name__} for {hint}")
    return value


def _head_bytes(count: int) -> int:
    if count <= _SHORT_MAX:
        return 1
    return 3 if count <= _MEDIUM_MAX else 5
