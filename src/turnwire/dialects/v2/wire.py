"""The `v2` wire: its frames, and the conversation that finds our turn among them.

Spec section 4. What is peculiar to this wire stays in this package:

* every socket of a session hears every turn of it (`others`);
* a text delta may be told in two spellings, in one or in both (`spellings`);
* a frame of no known type is counted, not an error; hydration and domain frames are skipped.

A new frame is a struct, a line in `_Read` and a `case` in `_events`, all in this file.
"""

import enum
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, TypeAlias, Union, assert_never

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import events, harmless
from turnwire.core.dialect import NEVER, Ask, Tally
from turnwire.core.events import Event, Phase, Reason, Told
from turnwire.core.questions import OPEN_MAX
from turnwire.dialects.v2 import outgoing
from turnwire.dialects.v2.others import Channel, Others
from turnwire.dialects.v2.skipped import SKIPPED
from turnwire.dialects.v2.spellings import CHUNK, PART, Spellings

_Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=512)]


class _Frame(Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all frames. Fields that nothing reads are left out; an absent `Raw` is empty."""


class _InitData(Struct, frozen=True, rename="camel"):
    runner_busy: bool = False
    running_turn_id: str | None = None


class Init(_Frame, frozen=True, tag="init"):
    data: _InitData = _InitData()


class MessageCreate(_Frame, frozen=True, tag="message.create"):
    turn_id: _Id
    prompt_id: str | None = None
    channel_type: str | None = None
    channel_id: str | None = None


class TextDelta(_Frame, frozen=True, tag="message.part.text-delta"):
    turn_id: _Id
    delta: str


class ChunkDelta(_Frame, frozen=True, tag="chunk"):
    content: str
    message_id: _Id


class ReasoningDelta(_Frame, frozen=True, tag="message.part.reasoning-delta"):
    turn_id: _Id
    delta: str


class ToolUpdate(_Frame, frozen=True, tag="message.part.tool-update"):
    turn_id: _Id
    call_id: _Id
    tool_name: _Id
    status: Phase
    args: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()


class Finalize(_Frame, frozen=True, tag="message.finalize"):
    turn_id: _Id
    reason: str = "end_turn"
    final_text: str | None = None
    error: Raw = Raw()
    usage: Raw = Raw()


class _Unnamed(_Frame, frozen=True):
    """A frame that need not name the turn it belongs to."""

    turn_id: str | None = None
    prompt_id: str | None = None
    channel_type: str | None = None
    channel_id: str | None = None


class Complete(_Unnamed, frozen=True, tag="complete"):
    pass


class AgentStatus(_Unnamed, frozen=True, tag="agentStatus", kw_only=True):
    status: Literal["idle", "thinking", "streaming", "tool_calling", "error"]
    detail: str | None = None


class Question(_Unnamed, frozen=True, tag="question", kw_only=True):
    question_id: _Id


class QuestionResolved(_Frame, frozen=True, tag="question.resolved"):
    question_id: _Id
    answer: Raw = Raw()


class QuestionExpired(_Frame, frozen=True, tag="question.expired"):
    question_id: _Id


class AgentError(_Unnamed, frozen=True, tag="error"):
    message: Raw = Raw()
    error: Raw = Raw()


class Status(_Frame, frozen=True, tag="status"):
    """The session's lifecycle: nothing to show, but a sign of life."""


class Skipped(_Frame, frozen=True):
    """Base of the frames that are skipped: known by type, not looked into."""


_Read: TypeAlias = (
    Init
    | MessageCreate
    | TextDelta
    | ChunkDelta
    | ReasoningDelta
    | ToolUpdate
    | Finalize
    | Complete
    | AgentStatus
    | Question
    | QuestionResolved
    | QuestionExpired
    | AgentError
    | Status
    | Skipped
)

_READ = tuple(kind for kind in _Read.__args__ if kind is not Skipped)
_KNOWN = (
    *_READ,
    *(msgspec.defstruct(tag, [], bases=(Skipped,), frozen=True, tag=tag) for tag in SKIPPED),
)
FRAME_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in _KNOWN)

_decode: Callable[[bytes], _Read] = msgspec.json.Decoder(Union[_KNOWN]).decode  # noqa: UP007 (built at run time)


class _Head(Struct):
    type: str


_head = msgspec.json.Decoder(_Head).decode
_fields = msgspec.json.Decoder(dict[str, Raw]).decode


class _Stage(enum.Enum):
    ASKED = enum.auto()
    RUNNING = enum.auto()
    OVER = enum.auto()


class _Conversation:
    """One prompt on one socket."""

    committed = True
    deadline = NEVER

    def __init__(self, ask: Ask) -> None:
        self.tally = Tally()
        self._ask = ask
        self._channel = (ask.channel_type, ask.channel_id)
        self._stage = _Stage.ASKED
        self._turn_id: str | None = None
        self._others = Others()
        self._told_queued = False
        self._names_prompts = False
        self._spellings = Spellings(self.tally)
        self._questions: dict[str, None] = {}

    @property
    def queued(self) -> bool:
        return self._stage is _Stage.ASKED and bool(self._others)

    def open(self, _now: float) -> Sequence[Event]:
        return [events.Send(outgoing.prompt(self._ask))]

    def abort(self) -> Sequence[bytes]:
        if self._stage is _Stage.OVER or self.queued:
            return ()
        return [outgoing.abort(self._ask, self._turn_id)]

    def tick(self, _now: float) -> Sequence[Event]:
        return ()

    def hear(self, frame: bytes, _now: float) -> Told:
        try:
            heard = _decode(frame)
        except (msgspec.DecodeError, RecursionError):
            return self._hear_unusual(frame)
        return self._sort(heard, frame)

    def _sort(self, heard: _Read, frame: bytes) -> Told:
        if type(heard) is TextDelta and heard.turn_id == self._turn_id:
            return self._spellings.fresh(PART, heard.delta)
        if type(heard) is ChunkDelta and heard.message_id == self._turn_id:
            return self._spellings.fresh(CHUNK, heard.content)
        return self._told(heard, frame)

    def _hear_unusual(self, frame: bytes) -> Told:
        """Read what is not strict JSON, or not of a shape we know; count what stays unread."""
        try:
            loose = harmless.parse(frame)
            strict = harmless.dump(loose)
            heard = _decode(strict)
        except msgspec.ValidationError:
            return self._count(strict)
        except (ValueError, RecursionError):
            self.tally.malformed += 1
            return ()
        # A half of a surrogate pair may find its other half in the next delta.
        if isinstance(heard, TextDelta | ReasoningDelta):
            heard = msgspec.structs.replace(heard, delta=loose["delta"])
        elif isinstance(heard, ChunkDelta):
            heard = msgspec.structs.replace(heard, content=loose["content"])
        return self._sort(heard, strict)

    def _count(self, frame: bytes) -> Told:
        try:
            kind = _head(frame).type
        except msgspec.ValidationError:
            kind = ""
        if not kind or kind in FRAME_TYPES:
            self.tally.malformed += 1
        else:
            self.tally.unknown(kind)
        return ()

    def _told(self, heard: _Read, frame: bytes) -> Sequence[Event]:
        waited, ahead = self.queued, len(self._others)
        told = self._events(heard, frame)
        if self.queued and not self._told_queued:
            self._told_queued = True
            return [*told, events.Queued()]
        self._told_queued = self.queued
        if waited and len(self._others) < ahead:
            return told or [events.Alive()]  # our place in the queue moved
        return told

    def _events(self, heard: _Read, frame: bytes) -> Sequence[Event]:
        match heard:
            case Skipped():
                return ()
            case Status():
                return [events.Alive()]
            case Init(data):
                return self._init(data)
            case MessageCreate():
                return self._create(heard)
            case Complete():
                return self._complete(heard)
            case AgentStatus(status=status, detail=detail) if self._concerns(heard):
                return [events.AgentStatus(status, detail)]
            case Question(question_id=question_id) if self._concerns(heard):
                payload = _fields(frame)
                del payload["type"]
                if len(self._questions) >= OPEN_MAX:
                    del self._questions[next(iter(self._questions))]
                self._questions[question_id] = None
                return [events.Question(question_id, Raw(msgspec.json.encode(payload)))]
            case QuestionResolved(question_id, answer) if question_id in self._questions:
                del self._questions[question_id]
                return [events.QuestionClosed(question_id, answer=answer or None)]
            case QuestionExpired(question_id) if question_id in self._questions:
                del self._questions[question_id]
                return [events.QuestionClosed(question_id, expired=True)]
            case AgentError(message=message, error=error) if self._concerns(heard):
                self._stage = _Stage.OVER
                text = harmless.words(message) or harmless.words(error)
                return [events.TurnFinished(reason=Reason.ERROR, error=text)]
            case AgentStatus() | Question() | QuestionResolved() | QuestionExpired() | AgentError():
                self.tally.foreign += 1
                return ()
            case ReasoningDelta(turn_id, delta) if turn_id == self._turn_id:
                return [events.ReasoningDelta(delta)]
            case ToolUpdate(turn_id) if turn_id == self._turn_id:
                return [_tool(heard)]
            case Finalize(turn_id) if turn_id == self._turn_id:
                self._stage = _Stage.OVER
                return [_finished(heard)]
            case Finalize(turn_id):
                self.tally.foreign += 1
                self._others.closed(turn_id)
                return ()
            case ChunkDelta(message_id=turn_id):
                return self._foreign(turn_id)
            case TextDelta(turn_id) | ReasoningDelta(turn_id) | ToolUpdate(turn_id):
                return self._foreign(turn_id)
            case _:
                assert_never(heard)

    def _foreign(self, turn_id: str, channel: Channel | None = None) -> Sequence[Event]:
        self.tally.foreign += 1
        self._others.saw(turn_id, channel)
        return ()

    def _init(self, data: _InitData) -> Sequence[Event]:
        if data.running_turn_id and data.running_turn_id != self._turn_id:
            self._others.saw(data.running_turn_id, None)
        elif data.runner_busy and self._stage is _Stage.ASKED:
            self._others.busy()
        return [events.Alive()]

    def _create(self, create: MessageCreate) -> Sequence[Event]:
        channel = _channel(create)
        if create.prompt_id:
            self._names_prompts = True
            ours = create.prompt_id == self._ask.prompt_id
        else:
            ours = (
                self._stage is _Stage.ASKED
                and not self._names_prompts
                and channel == self._channel
                and not self._others.on(channel)
            )
        if not ours or self._stage is _Stage.OVER:
            if create.turn_id == self._turn_id:
                return [events.Alive()]
            return self._foreign(create.turn_id, channel)
        if create.turn_id == self._turn_id:
            return [events.Alive()]
        # A second id for our prompt: the agent started it over, and we follow.
        self._stage = _Stage.RUNNING
        self._turn_id = create.turn_id
        self._spellings = Spellings(self.tally)
        return [events.TurnStarted(create.turn_id)]

    def _complete(self, complete: Complete) -> Sequence[Event]:
        if not self._concerns(complete):
            self.tally.foreign += 1
            if complete.turn_id:
                self._others.closed(complete.turn_id)
            elif not complete.prompt_id:
                self._others.none()
            return ()
        if self._stage is not _Stage.RUNNING:
            return ()
        self._stage = _Stage.OVER
        return [events.TurnFinished(reason=Reason.END_TURN)]

    def _concerns(self, frame: _Unnamed) -> bool:
        """Whether a frame that need not name its turn is about ours."""
        if frame.turn_id and (self._turn_id or not frame.prompt_id):
            return frame.turn_id == self._turn_id
        if frame.prompt_id:
            return frame.prompt_id == self._ask.prompt_id
        running = self._stage is _Stage.RUNNING
        if frame.channel_type or frame.channel_id:
            if _channel(frame) != self._channel:
                return False
            return running or not self._others.on(self._channel)
        return running or not self._others


def _channel(frame: MessageCreate | _Unnamed) -> Channel:
    return (frame.channel_type or "web", frame.channel_id or "default")


def _tool(update: ToolUpdate) -> Event:
    return events.ToolUpdate(
        call_id=update.call_id,
        tool_name=update.tool_name,
        phase=update.status,
        args=update.args or None,
        result=update.result or None,
        error=harmless.words(update.error),
    )


def _finished(finalize: Finalize) -> Event:
    try:
        reason = Reason(finalize.reason)
    except ValueError:
        reason = Reason.END_TURN  # it ended, whatever the word
    return events.TurnFinished(
        reason=reason,
        final_text=finalize.final_text,
        error=harmless.words(finalize.error),
        usage=finalize.usage or None,
    )


class V2:
    """The dialect named `v2`."""

    name = "v2"
    subprotocols: Sequence[str] = ()
    idle_s = 120.0

    def prompt(self, ask: Ask) -> _Conversation:
        return _Conversation(ask)
