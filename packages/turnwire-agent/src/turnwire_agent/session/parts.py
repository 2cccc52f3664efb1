"""The parts of a turn while it grows, as `init` repeats them.

A part stands where it began. Later events change it in place: more text, the outcome of a call,
the answer to a question. Parts are counted from 0, and the parts of a lost attempt are taken back
from a position on. Text and reasoning are kept in the pieces of their deltas, and joined only
on demand: a turn of many thousand deltas does not copy its text for each of them.
"""

from collections.abc import Iterable
from typing import Final, assert_never

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from turnwire_agent.llm.transcript import File, Image, Outcome, Text
from turnwire_agent.session.deltas import (
    DataSet,
    Delta,
    FileAdded,
    InputAdded,
    PreliminaryResult,
    ReasoningAdded,
    SourceAdded,
    StatusChanged,
    TextAdded,
)
from turnwire_agent.session.events import (
    CallBegun,
    CallEnded,
    CallPart,
    DataPart,
    FilePart,
    Part,
    QuestionAsked,
    QuestionClosed,
    QuestionPart,
    Reason,
    ReasoningPart,
    SourcePart,
    StepPart,
    TextPart,
)
from turnwire_agent.session.mended import mended

PARTS_MAX: Final = 4_096
"""Most parts of a turn. Beyond these, files, sources and data are told, and not repeated."""

CANCELED: Final = "Canceled"
NO_RESULT: Final = "No result"
"""The error of a call that was open when its turn was stopped, or ended in another way."""

ERRORS: Final[dict[Outcome, str]] = {
    "failed": "The tool failed",
    "denied": "Denied",
    "canceled": CANCELED,
    "unknown": "Nobody knows whether this was done",
}
"""What people read of a call that has no error of its own."""


class Retracted(Struct, frozen=True):
    """A mark: the parts from this position on were taken back. Clients may have seen them."""

    since: int


class _Words:
    """A block of text or of reasoning that grows."""

    __slots__ = ("kind", "pieces")

    def __init__(self, kind: type[TextPart | ReasoningPart], piece: str) -> None:
        self.kind = kind
        self.pieces = [piece]


class _Input:
    """A call whose input comes in pieces."""

    __slots__ = ("call_id", "pieces", "tool")

    def __init__(self, call_id: str, tool: str, piece: str) -> None:
        self.call_id = call_id
        self.tool = tool
        self.pieces = [piece]

    def part(self) -> CallPart:
        return CallPart(call_id=self.call_id, tool=self.tool, input_text="".join(self.pieces))


class _Slot:
    """The place of one part."""

    __slots__ = ("part",)

    def __init__(self, part: Part | _Words | _Input) -> None:
        self.part = part

    def written(self) -> Part:
        part = self.part
        if isinstance(part, _Words):
            return part.kind("".join(part.pieces))
        return part.part() if isinstance(part, _Input) else part


class Parts:
    """The parts of one turn. Their number is that of those that stand, without the marks."""

    __slots__ = ("_calls", "_count", "_data", "_log", "_open", "_questions", "_standing")

    def __init__(self) -> None:
        self._log: list[_Slot | Retracted] = []
        """All that clients were sent, in order."""
        self._standing: list[_Slot] = []
        """The same without what was taken back."""
        self._count = 0
        self._open: _Words | None = None
        """The last part, if more text of its kind belongs to it."""
        self._calls: dict[str, _Slot] = {}
        self._questions: dict[str, _Slot] = {}
        self._data: dict[tuple[str, str], _Slot] = {}
        """The data parts with an id, by name and id."""

    def __len__(self) -> int:
        return self._count

    def now(self) -> tuple[Part, ...]:
        """The parts that stand, as they are, and the marks of steps between them."""
        return tuple(slot.written() for slot in self._standing)

    def log(self) -> tuple[Part | Retracted, ...]:
        """All that clients were sent, in order: what was taken back, too, and where that was."""
        return tuple(each if isinstance(each, Retracted) else each.written() for each in self._log)

    def call(self, call_id: str) -> CallPart | None:
        """A call as it is; None if it is unknown, or was taken back."""
        slot = self._calls.get(call_id)
        if slot is None:
            return None
        part = slot.written()
        assert isinstance(part, CallPart)
        return part

    def has_call(self, call_id: str) -> bool:
        """Whether this call is known."""
        return call_id in self._calls

    def takes_input(self, call_id: str) -> bool:
        """Whether a piece of the input of this call counts: it is not whole yet."""
        slot = self._calls.get(call_id)
        return slot is None or isinstance(slot.part, _Input)

    def open_calls(self) -> list[CallPart]:
        """The calls without an outcome, in the order of their beginnings."""
        calls = (slot.written() for slot in self._calls.values())
        return [call for call in calls if isinstance(call, CallPart) and is_open(call)]

    def add(self, delta: Delta) -> None:
        """Take what was streamed."""
        match delta:
            case TextAdded(text):
                self._write(TextPart, text)
            case ReasoningAdded(text):
                self._write(ReasoningPart, text)
            case InputAdded():
                self._add_input(delta)
            case PreliminaryResult(call_id, tool, value):
                call = self.call(call_id) or CallPart(call_id=call_id, tool=tool)
                if is_open(call):
                    self._put_call(replace(call, status="running", value=value, preliminary=True))
            case FileAdded(mime, url, filename):
                self._show(FilePart(mime, url, filename))
            case SourceAdded(source_id, url, title):
                self._show(SourcePart(source_id, url, title))
            case DataSet(transient=False):
                self._set(delta)
            case DataSet() | StatusChanged():
                pass  # shown at once, and part of nothing
            case _:
                assert_never(delta)

    def begin_step(self) -> None:
        """A model is called. More text begins a part of its own."""
        self._open = None
        if self.marks_step:
            self._put(_Slot(StepPart()))

    @property
    def marks_step(self) -> bool:
        """Whether a step that begins now needs a mark: something stands before it."""
        return bool(self._standing) and not isinstance(self._standing[-1].part, StepPart)

    def take_back(self, since: int) -> None:
        """Remove the parts from this position on.

        The ids of calls and of data may come again. A question that was taken back stays known: its
        answer is kept where clients have seen it.
        """
        self._open = None
        if since >= self._count:
            return
        self._log.append(Retracted(since))
        places = [n for n, slot in enumerate(self._standing) if not isinstance(slot.part, StepPart)]
        del self._standing[places[since] :]
        self._count = since
        standing = {id(slot) for slot in self._standing}
        self._calls = {key: slot for key, slot in self._calls.items() if id(slot) in standing}
        self._data = {key: slot for key, slot in self._data.items() if id(slot) in standing}

    def begin_call(self, begun: CallBegun) -> None:
        """A tool runs."""
        self._run(begun.call_id, begun.tool, begun.input)

    def end_call(self, ended: CallEnded) -> None:
        """A call has its outcome."""
        call = self.call(ended.call_id) or CallPart(call_id=ended.call_id, tool=ended.tool)
        if not is_open(call):
            return
        if call.input is UNSET and ended.input is not UNSET:
            call = replace(call, input=ended.input, input_text="")
        if ended.outcome == "done":
            value = shown_value(ended)
            call = replace(call, status="completed", value=value, preliminary=False)
        else:
            error = shown_error(ended)
            call = replace(call, status="error", value=UNSET, preliminary=False, error=error)
        self._put_call(call)

    def ask(self, asked: QuestionAsked) -> None:
        """A person is asked. The call that waits for the answer has its input."""
        if asked.call_id is not None:
            self._run(asked.call_id, asked.tool or "", asked.input)
        slot = self._questions.get(asked.question_id)
        if slot is None:
            slot = self._questions[asked.question_id] = _Slot(QuestionPart(asked=asked))
            self._append(slot)
        else:  # asked again
            slot.part = QuestionPart(asked=asked)

    def close_question(self, question: QuestionClosed) -> None:
        """A question has its answer, or will have none."""
        slot = self._questions.get(question.question_id)
        if slot is not None and isinstance(slot.part, QuestionPart) and is_open(slot.part):
            slot.part = _closed(slot.part, question.answer)

    def _write(self, kind: type[TextPart | ReasoningPart], text: str) -> None:
        if not text:
            return
        if self._open is not None and self._open.kind is kind:
            self._open.pieces.append(text)
            return
        words = _Words(kind, text)
        self._append(_Slot(words))
        self._open = words

    def _add_input(self, delta: InputAdded) -> None:
        slot = self._calls.get(delta.call_id)
        if slot is None:
            slot = self._calls[delta.call_id] = _Slot(_Input(delta.call_id, delta.tool, delta.text))
            self._append(slot)
        elif isinstance(slot.part, _Input):  # else the input is whole
            slot.part.pieces.append(delta.text)

    def _run(self, call_id: str, tool: str, call_input: Raw | UnsetType) -> None:
        call = self.call(call_id) or CallPart(call_id=call_id, tool=tool)
        if is_open(call):
            call = replace(call, status="running")
            if call_input is not UNSET:
                call = replace(call, input=call_input, input_text="")
            self._put_call(call)

    def _put_call(self, call: CallPart) -> None:
        slot = self._calls.get(call.call_id)
        if slot is None:
            slot = self._calls[call.call_id] = _Slot(call)
            self._append(slot)
        else:
            slot.part = call

    def _show(self, part: FilePart | SourcePart | DataPart) -> _Slot | None:
        if self._count >= PARTS_MAX:
            return None
        slot = _Slot(part)
        self._append(slot)
        return slot

    def _set(self, data: DataSet) -> None:
        part = DataPart(data.name, data.value, data.data_id or None)
        if part.data_id is None:
            self._show(part)
            return
        key = (part.name, part.data_id)
        slot = self._data.get(key)
        if slot is not None:
            slot.part = part
        elif (slot := self._show(part)) is not None:
            self._data[key] = slot

    def _append(self, slot: _Slot) -> None:
        self._count += 1
        self._put(slot)

    def _put(self, slot: _Slot) -> None:
        self._log.append(slot)
        self._standing.append(slot)
        self._open = None


def is_open(part: Part) -> bool:
    """Whether this is a call without an outcome, or a question that still waits."""
    if isinstance(part, CallPart):
        return part.status in {"pending", "running"}
    return isinstance(part, QuestionPart) and part.answer is UNSET and not part.expired


def closed(parts: Iterable[Part], reason: Reason) -> tuple[Part, ...]:
    """The parts of a turn that is over: what it left open is closed."""
    error = open_call_error(reason)
    return tuple(_settled(part, error) if is_open(part) else part for part in parts)


def open_call_error(reason: Reason) -> str:
    """The error of a call that is open when its turn ends."""
    return CANCELED if reason == "canceled" else NO_RESULT


def shown_value(ended: CallEnded) -> Raw:
    """The result of a call for people, as JSON."""
    if ended.value is not UNSET:
        return ended.value
    if all(isinstance(part, Text) for part in ended.content):
        return _json("\n".join(part.text for part in ended.content if isinstance(part, Text)))
    return _json([_outline(part) for part in ended.content])


def shown_error(ended: CallEnded) -> str:
    """The error of a call for people."""
    return ended.error or ERRORS[ended.outcome]


def _outline(part: Text | Image | File) -> dict[str, str]:
    """A piece of a result without its bytes: those are for the model."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(media_type):
            return {"type": "image", "mediaType": media_type}
        case File(media_type, name=name):
            return {"type": "file", "mediaType": media_type, "filename": name}
        case _:
            assert_never(part)


def _json(value: object) -> Raw:
    try:
        return Raw(msgspec.json.encode(value))
    except UnicodeEncodeError:
        return Raw(msgspec.json.encode(mended(value)))


def _settled(part: Part, error: str) -> Part:
    if isinstance(part, CallPart):
        return replace(part, status="error", value=UNSET, preliminary=False, error=error)
    assert isinstance(part, QuestionPart)
    return _closed(part, UNSET)


def _closed(part: QuestionPart, answer: Raw | UnsetType) -> QuestionPart:
    return replace(part, answer=answer, expired=answer is UNSET)
