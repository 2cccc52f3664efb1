"""What `init` repeats of a session: its entries, and the events that would tell them again.

Read leniently: an entry or a part of another shape than the wire's is left out,
and never keeps a client from the rest.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import events, harmless
from turnwire.core.bounds import FEW, MANY, PARTS_MAX, ChannelName, SomeId, Word
from turnwire.core.events import Event, Phase, Reason
from turnwire.dialects.v2 import asking
from turnwire.dialects.v2.others import DEFAULT_CHANNEL, Channel

_HALF = "turnwire:half"

_STEP: Final = 256
"""Entries and parts that are read at a time, but for those of one entry."""

_PIECE: Final = 1_048_576
"""Characters of a text that are told at once."""


class Entry(Struct, frozen=True, rename="camel", dict=True):
    """One prompt or one turn. What its parts say is read once: `Ahead` may have done it before."""

    id: SomeId = ""
    role: Word = ""
    parts: Annotated[list[Raw], MANY] = []
    prompt_id: SomeId | None = None
    client_message_id: SomeId | None = None
    user_id: Raw = Raw()
    channel_type: ChannelName | None = None
    channel_id: ChannelName | None = None
    queued: bool | None = None
    """Whether this is a prompt whose turn has not begun."""

    @property
    def channel(self) -> Channel:
        kind, name = DEFAULT_CHANNEL
        return (self.channel_type or kind, self.channel_id or name)

    @cached_property
    def is_open(self) -> bool:
        """Whether this is a turn that is not over."""
        if self.role != "assistant":
            return False
        # From the end, where it stands: an errand looks at every turn of a session.
        return not any(part.type == "finish" for part in parts(self, backwards=True))

    @cached_property
    def questions(self) -> Mapping[str, bool]:
        """The questions of a turn, and whether each is open: as it was asked the last time."""
        return {part.question: part.is_open_question for part in parts(self) if part.question}

    @property
    def open_questions(self) -> Collection[str]:
        """The ids of the questions that a turn waits for."""
        return [question_id for question_id, is_open in self.questions.items() if is_open]


class Part(Struct, frozen=True, rename="camel"):
    """Any part: what its type has not, is empty.

    Raw, since a question has fields of its own, which may be called like those of other parts.
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
    half: Annotated[int, Meta(ge=0, le=0xDBFF)] = msgspec.field(name=_HALF, default=0)
    """Half of a surrogate pair that the text ends with; the other may come in the next delta."""

    @property
    def question(self) -> str | None:
        """The id of the question that this is."""
        return harmless.short(self.question_id) if self.type == "question" else None

    @property
    def is_expired(self) -> bool:
        return bytes(self.expired) == b"true"

    @property
    def is_open_question(self) -> bool:
        return self.question is not None and not self.answer and not self.is_expired

    @property
    def file(self) -> tuple[str, str] | None:
        """The URL and the media type of the file that this is, if it has a URL still."""
        url = harmless.string(self.url) if self.type == "file" else None
        return (url, harmless.short(self.mime) or "") if url else None


class _Session(Struct, frozen=True):
    messages: Annotated[list[Raw], MANY] = []


_session = msgspec.json.Decoder(_Session).decode
_entry = msgspec.json.Decoder(Entry).decode
_part = msgspec.json.Decoder(Part).decode
_count = msgspec.json.Decoder(int).decode
_fields = msgspec.json.Decoder(Annotated[dict[str, Raw], FEW]).decode


def entries(session: Raw) -> list[Entry]:
    """The entries of a session, oldest first."""
    return list(each(session))


def each(session: Raw) -> Iterator[Entry]:
    """The same, for whoever may not need them all."""
    try:
        told = _session(session or b"{}").messages
    except msgspec.DecodeError:
        return
    for raw in told:
        try:
            yield _entry(raw)
        except msgspec.DecodeError:
            continue


def waits(entry: Entry) -> object:
    """Look for what an open turn waits for."""
    return entry.is_open and entry.questions


class Ahead:
    """The entries of a long `init`, which are read before it is heard.

    `look` is what will be asked of all of them: what that reads of their parts is read here, too.
    """

    __slots__ = ("_look", "_read")

    def __init__(self, look: Callable[[Entry], object] = waits) -> None:
        self._look = look
        self._read: list[Entry] | None = None

    def read(self, session: Raw) -> Iterator[None]:
        """Read them, in short steps.

        Raises:
            RecursionError: one of them is nested just so deeply that the first look went well.

        """
        self._read = None
        try:
            told = _session(session or b"{}").messages
        except msgspec.DecodeError:
            return
        yield
        read: list[Entry] = []
        looked = 0
        for raw in told:
            looked += 1
            with contextlib.suppress(msgspec.DecodeError):
                entry = _entry(raw)
                looked += len(entry.parts)
                if len(entry.parts) > PARTS_MAX:
                    entry = msgspec.structs.replace(entry, parts=entry.parts[-PARTS_MAX:])
                self._look(entry)
                read.append(entry)
            if looked >= _STEP:
                yield
                looked = 0
        self._read = read

    def take(self, session: Raw) -> Iterable[Entry]:
        """The entries of the `init` that is heard now, read before or not."""
        read, self._read = self._read, None
        return each(session) if read is None else read


def keep_halves(loose: Any) -> None:
    """Put the half that a text ends with beside it: strict JSON has no place for it.

    `loose` is a frame as `harmless.parse` gave it, of any shape.
    """
    if not isinstance(loose, dict) or loose.get("type") != "init":
        return
    session = loose.get("session")
    for message in _list(session, "messages"):
        for part in _list(message, "parts"):
            match part:
                case {"type": "text" | "reasoning", "text": str(text)}:
                    part["text"], half = harmless.split_half(text)
                    part[_HALF] = ord(half) if half else 0
                case _:
                    pass


def _list(holder: Any, name: str) -> list[Any]:
    held = holder.get(name) if isinstance(holder, dict) else None
    return held if isinstance(held, list) else []


def parts(entry: Entry, *, backwards: bool = False) -> Iterator[Part]:
    for raw in reversed(entry.parts) if backwards else entry.parts:
        try:
            yield _part(raw)
        except msgspec.DecodeError:
            continue


def waiting(entries: Iterable[Entry], said: Raw) -> list[Entry]:
    """The prompts whose turn has not begun.

    `said` is how many the agent says there are: for one that does not mark
    them, they are the newest of those that no turn names.
    """
    known = list(entries)
    marked = [entry for entry in known if entry.queued]
    try:
        count = max(0, _count(said or b"0"))
    except msgspec.DecodeError:
        count = 0
    if marked or not count:
        return marked
    begun = {entry.prompt_id for entry in known if entry.role == "assistant"}
    prompts = [entry for entry in known if entry.role == "user" and entry.prompt_id]
    return [entry for entry in prompts if entry.prompt_id not in begun][-count:]


def asker(turn: Entry, among: Iterable[Entry]) -> str | None:
    """Who asked for a turn, where the agent says so."""
    prompts = (e for e in among if turn.prompt_id and e.prompt_id == turn.prompt_id)
    return next(filter(None, (harmless.short(e.user_id) for e in (turn, *prompts))), None)


def askers(entries: Iterable[Entry]) -> dict[str, str]:
    """Who asked for the turn of each prompt, where its entries say so: the first that does."""
    said: dict[str, str] = {}
    for entry in entries:
        if entry.prompt_id and (user_id := harmless.short(entry.user_id)):
            said.setdefault(entry.prompt_id, user_id)
    return said


def asked_by(turn: Entry, users: Mapping[str, str]) -> str | None:
    """Who asked for a turn, by `askers`."""
    return harmless.short(turn.user_id) or users.get(turn.prompt_id or "") or None


def client_ids(entries: Iterable[Entry]) -> frozenset[str]:
    """The ids that clients gave their prompts."""
    return frozenset(e.client_message_id for e in entries if e.client_message_id is not None)


def message_id(turn_id: str, taken: Collection[str]) -> str:
    """The id of a turn's message: as in its own stream, none that a client gave its prompt."""
    return f"{turn_id}:answer" if turn_id in taken else turn_id


def text(entry: Entry) -> str:
    """The text of a prompt."""
    return "".join(harmless.string(part.text) or "" for part in parts(entry) if part.type == "text")


def told(entry: Entry) -> Iterator[Event]:
    """The events of a turn, but for its start. One that is not over ends with no `TurnFinished`."""
    end: Reason | None = None
    error: str | None = None
    over: dict[str, Raw] = {}
    """Calls with an outcome, each with its part."""
    for raw in entry.parts:
        try:
            part = _part(raw)
        except msgspec.DecodeError:
            continue
        match part.type:
            case "finish":
                end = reason(part.reason)
            case "error":
                error = harmless.words(part.message)
            case "question":
                yield from _question(part, raw)
            case "tool-call":
                yield from _called(part, raw, over)
            case _:
                yield from _shown(part)
    if end is not None:
        yield events.TurnFinished(reason=end, error=error)


def reason(raw: Raw) -> Reason:
    """How a turn ended. It ended, whatever the word."""
    try:
        return Reason(harmless.string(raw))
    except ValueError:
        return Reason.END_TURN


def _shown(part: Part) -> Iterator[Event]:
    match part.type:
        case "text":
            yield from map(events.TextDelta, _pieces(_said(part)))
        case "reasoning":
            yield from map(events.ReasoningDelta, _pieces(_said(part)))
        case "file" if file := part.file:
            yield events.FilePart(*file)
        case "source" if url := harmless.string(part.url):
            source_id, title = harmless.short(part.source_id), harmless.string(part.title)
            yield events.SourceUrl(source_id or "", url, title)


def _called(part: Part, raw: Raw, over: dict[str, Raw]) -> Iterator[Event]:
    """A call as far as it got. Its id may be used again once it is over, as live."""
    call_id = harmless.short(part.call_id)
    try:
        phase = Phase(harmless.string(part.status))
    except ValueError:
        return
    if not call_id:
        return
    name = harmless.short(part.tool_name) or ""
    before = over.pop(call_id, None)
    if before is not None and bytes(before) != bytes(raw):
        yield events.ToolUpdate(call_id=call_id, tool_name=name, phase=Phase.PENDING)
    if phase in {Phase.COMPLETED, Phase.ERROR}:
        over[call_id] = raw
    yield events.ToolUpdate(
        call_id=call_id,
        tool_name=name,
        phase=phase,
        args=part.args or None,
        result=part.result or None,
        error=harmless.words(part.error),
    )


def _pieces(text: str) -> Iterator[str]:
    """A text as it is, or a very long one in pieces, so that none of them takes long."""
    for at in range(0, len(text) or 1, _PIECE):
        yield text[at : at + _PIECE]


def _said(part: Part) -> str:
    return (harmless.string(part.text) or "") + (chr(part.half) if part.half else "")


def _question(part: Part, raw: Raw) -> Iterator[Event]:
    question_id = part.question
    if not question_id:
        return
    try:
        payload = _fields(raw)
    except msgspec.ValidationError:  # more fields than a question has
        return
    for field in ("type", "answer", "expired"):
        payload.pop(field, None)
    yield asking.question(question_id, payload)
    if part.answer:
        yield events.QuestionClosed(question_id, answer=part.answer)
    elif part.is_expired:
        yield events.QuestionClosed(question_id, expired=True)
