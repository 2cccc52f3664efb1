"""The `v2` wire: its frames, and the conversation that finds our turn among them.

Spec section 4. What is peculiar to this wire stays in this package:

* every socket of a session hears every turn of it (`whose`, `others`);
* a text delta may be told in two spellings, in one or in both (`spellings`);
* a frame of no known type is counted, not an error; hydration and domain frames are skipped.

A new frame is a struct, a line in `_Read` and a `case` in `_events`, all in this file.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, TypeAlias, Union, assert_never

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import events, harmless
from turnwire.core.dialect import NEVER, Ask, Reach, Tally
from turnwire.core.events import Event, Phase, Reason, Told
from turnwire.core.questions import OPEN_MAX
from turnwire.dialects.v2 import outgoing
from turnwire.dialects.v2.others import DEFAULT_CHANNEL, Channel
from turnwire.dialects.v2.skipped import SKIPPED
from turnwire.dialects.v2.spellings import CHUNK, PART, Spellings
from turnwire.dialects.v2.whose import Whose

_Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=512)]


class _Frame(Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all frames. Fields that nothing reads are left out; an absent `Raw` is empty."""


class _InitData(Struct, frozen=True, rename="camel"):
    runner_busy: bool = False
    running_turn_id: str | None = None


class _InitMessage(Struct, frozen=True, rename="camel"):
    prompt_id: str | None = None


class _InitSession(Struct, frozen=True):
    messages: list[_InitMessage] = []


class Init(_Frame, frozen=True, tag="init"):
    data: _InitData = _InitData()
    session: Raw = Raw()


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
    """What is wrong beside the turn's id must not keep a turn from ending: read leniently."""

    turn_id: _Id
    reason: Raw = Raw()
    final_text: Raw = Raw()
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


_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_session = msgspec.json.Decoder(_InitSession).decode


class _Conversation:
    """One prompt on one socket."""

    committed = True
    deadline = NEVER

    def __init__(self, ask: Ask) -> None:
        self.tally = Tally()
        self._ask = ask
        self._whose = Whose(ask)
        self._told_queued = False
        self._spellings = Spellings(self.tally)
        self._questions: dict[str, None] = {}

    @property
    def queued(self) -> bool:
        return self._whose.queued

    @property
    def reach(self) -> Reach:
        return self._whose.reach

    def open(self, _now: float) -> Sequence[Event]:
        return [events.Send(outgoing.prompt(self._ask))]

    def abort(self) -> Sequence[bytes]:
        if self.reach is not Reach.OURS:
            return ()
        return [outgoing.abort(self._ask, self._whose.turn_id)]

    def tick(self, _now: float) -> Sequence[Event]:
        return ()

    def hear(self, frame: bytes, _now: float) -> Told:
        try:
            heard = _decode(frame)
        except msgspec.ValidationError:
            return self._count(frame)
        except (msgspec.DecodeError, RecursionError):
            return self._hear_loose(frame)
        return self._sort(heard, frame)

    def _sort(self, heard: _Read, frame: bytes) -> Told:
        turn_id = self._whose.turn_id
        if type(heard) is TextDelta and heard.turn_id == turn_id:
            return self._spellings.fresh(PART, heard.delta)
        if type(heard) is ChunkDelta and heard.message_id == turn_id:
            return self._spellings.fresh(CHUNK, heard.content)
        return self._told(heard, frame)

    def _hear_loose(self, frame: bytes) -> Told:
        """Read what is not strict JSON (NaN, half of a surrogate pair); count what stays unread."""
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
        kind = harmless.kind(frame)
        if not kind or kind in FRAME_TYPES:
            self.tally.malformed += 1
        else:
            self.tally.unknown(kind)
        return ()

    def _told(self, heard: _Read, frame: bytes) -> Sequence[Event]:
        whose = self._whose
        waited, ahead = whose.queued, len(whose.others)
        told = self._events(heard, frame)
        if whose.queued and not self._told_queued:
            self._told_queued = True
            return [*told, events.Queued()]
        self._told_queued = whose.queued
        if waited and len(whose.others) < ahead:
            return told or [events.Alive()]  # our place in the queue moved
        return told

    def _events(self, heard: _Read, frame: bytes) -> Sequence[Event]:
        ours = self._whose.turn_id
        match heard:
            case Skipped():
                return ()
            case Status():
                return [events.Alive()]
            case Init(data, session):
                return self._init(data, session)
            case MessageCreate(turn_id, prompt_id):
                if self._whose.created(turn_id, prompt_id, _channel(heard) or DEFAULT_CHANNEL):
                    self._spellings = Spellings(self.tally)
                    return [events.TurnStarted(turn_id)]
                return [events.Alive()] if turn_id == ours else self._foreign()
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
                self._whose.over()
                text = harmless.words(message) or harmless.words(error)
                return [events.TurnFinished(reason=Reason.ERROR, error=text)]
            case Complete() if self._concerns(heard):
                if not self._whose.is_running:
                    return ()
                self._whose.over()
                return [events.TurnFinished(reason=Reason.END_TURN)]
            case AgentError(turn_id=turn_id, prompt_id=prompt_id):
                self._whose.ended(turn_id, prompt_id)
                return self._foreign()
            case Complete(turn_id=turn_id, prompt_id=prompt_id):
                if not self._whose.ended(turn_id, prompt_id):
                    self._whose.others.idle(_channel(heard))
                return self._foreign()
            case AgentStatus(turn_id=turn_id, status=status):
                return self._foreign(turn_id if status != "idle" else None)
            case Question(turn_id=turn_id):
                return self._foreign(turn_id)
            case QuestionResolved() | QuestionExpired():
                return self._foreign()
            case ReasoningDelta(turn_id, delta) if turn_id == ours:
                return [events.ReasoningDelta(delta)]
            case ToolUpdate(turn_id) if turn_id == ours:
                return [_tool(heard)]
            case Finalize(turn_id) if turn_id == ours:
                self._whose.over()
                return [_finished(heard)]
            case Finalize(turn_id):
                self._whose.ended(turn_id, None)
                return self._foreign()
            case ChunkDelta(message_id=turn_id):
                return self._foreign(turn_id)
            case TextDelta(turn_id) | ReasoningDelta(turn_id) | ToolUpdate(turn_id):
                return self._foreign(turn_id)
            case _:
                assert_never(heard)

    def _foreign(self, turn_id: str | None = None) -> Sequence[Event]:
        """Drop a frame that is not about our turn; `turn_id` if it shows that another is open."""
        self.tally.foreign += 1
        if turn_id:
            self._whose.others.saw(turn_id)
        return ()

    def _init(self, data: _InitData, session: Raw) -> Sequence[Event]:
        with contextlib.suppress(msgspec.DecodeError):  # the history may have any shape
            if any(message.prompt_id for message in _session(session or b"{}").messages):
                self._whose.names_prompts()
        if data.running_turn_id or data.runner_busy:
            self._whose.busy(data.running_turn_id or None)
        return [events.Alive()]

    def _concerns(self, frame: _Unnamed) -> bool:
        return self._whose.concerns(frame.turn_id, frame.prompt_id, _channel(frame))


def _channel(frame: MessageCreate | _Unnamed) -> Channel | None:
    """The channel that a frame names, if it does."""
    if not frame.channel_type and not frame.channel_id:
        return None
    kind, name = DEFAULT_CHANNEL
    return (frame.channel_type or kind, frame.channel_id or name)


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
        reason = Reason(harmless.string(finalize.reason))
    except ValueError:
        reason = Reason.END_TURN  # it ended, whatever the word
    return events.TurnFinished(
        reason=reason,
        final_text=harmless.string(finalize.final_text),
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
