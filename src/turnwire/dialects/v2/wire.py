"""The `v2` wire: the conversation that finds our turn among its frames (`frames`).

Spec section 4. What is peculiar to this wire stays in this package:

* every socket of a session hears every turn of it (`whose`, `others`);
* a text delta may be told in two spellings, in one or in both (`spellings`);
* a frame of no known type is counted, not an error; hydration and domain frames are skipped.

A new frame is a struct and a line in `Read`, in `frames`, and a `case` in `_events`, here.
"""

import abc
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Annotated, assert_never

import msgspec
from msgspec import Raw

from turnwire.core import events, harmless
from turnwire.core.bounds import FEW
from turnwire.core.dialect import NEVER, Ask, Reach, Tally
from turnwire.core.events import Event, Reason, Told
from turnwire.core.refusal import Refusal
from turnwire.core.room import Seat
from turnwire.dialects.v2 import asking, hydration, looking, outgoing
from turnwire.dialects.v2.asked import Asked, Place
from turnwire.dialects.v2.frames import (
    AgentError,
    AgentStatus,
    ChunkDelta,
    Complete,
    File,
    Finalize,
    Init,
    InitData,
    MessageCreate,
    Question,
    QuestionExpired,
    QuestionResolved,
    Read,
    ReasoningDelta,
    Skipped,
    Source,
    Status,
    TextDelta,
    ToolUpdate,
    Unnamed,
    UserJoined,
    channel,
    count,
    decode,
    place,
    recover,
)
from turnwire.dialects.v2.others import DEFAULT_CHANNEL, Channel
from turnwire.dialects.v2.spellings import CHUNK, PART, Spellings
from turnwire.dialects.v2.whose import Whose

_fields = msgspec.json.Decoder(Annotated[dict[str, Raw], FEW]).decode


class Conversation(abc.ABC):
    """One turn on one socket, as far as frames go; how it begins is the subclass's."""

    committed = True
    deadline = NEVER

    def __init__(
        self, channel: Channel, seat: Seat, prompt_id: str | None = None, user_id: str = ""
    ) -> None:
        self.tally = Tally()
        self.channel = channel
        self._seat = seat
        self._whose = Whose(channel, seat, prompt_id, user_id)
        self._told_queued = False
        self._spellings = Spellings(self.tally)
        self._asked = Asked()
        self._is_greeted = self._came_back = False
        self._ahead: hydration.Ahead | None = None

    @property
    def queued(self) -> bool:
        return self._whose.queued

    @property
    def reach(self) -> Reach:
        return self._whose.reach

    @property
    def accompanied(self) -> bool:
        return self._came_back or self._seat.accompanied

    @abc.abstractmethod
    def open(self, _now: float, /) -> Sequence[Event]:
        """The connection stands."""
        ...

    def unwatched(self) -> None:
        self._seat.unwatched()

    def unattended(self) -> None:  # noqa: B027 (the default)
        """Only whoever asked can come back."""

    def doubt(self) -> None:  # noqa: B027 (the default)
        """An abort names its turn, so that old news do no harm."""

    def abort(self) -> Sequence[bytes]:
        return ()

    def tick(self, _now: float) -> Sequence[Event]:
        return ()

    def look_into(self, frame: bytes) -> Iterator[None]:
        self._ahead = hydration.Ahead()
        return looking.look_into(frame, self._ahead)

    def hear(self, frame: bytes, _now: float) -> Told:
        try:
            heard = decode(frame)
        except msgspec.ValidationError:
            count(frame, self.tally)
            return ()
        except (msgspec.DecodeError, RecursionError):
            recovered = recover(frame, self.tally)
            if recovered is None:
                return ()
            heard, frame = recovered
        # First, and in this function, since they come by the hundred thousand.
        if type(heard) is TextDelta and heard.turn_id == self._whose.turn_id:
            return self._spellings.fresh(PART, heard.delta)
        if type(heard) is ChunkDelta and heard.message_id == self._whose.turn_id:
            return self._spellings.fresh(CHUNK, heard.content)
        try:
            return self._told(heard, frame)
        except (RecursionError, msgspec.ValidationError):
            # Nested just so deeply that the first look at it went well; a field too many.
            self.tally.unread(frame)
            return ()

    def _told(self, heard: Read, frame: bytes) -> Sequence[Event]:
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

    def _message_id(self, turn_id: str) -> str:
        """The id of the message that tells of a turn."""
        return turn_id

    def _events(self, heard: Read, frame: bytes) -> Sequence[Event]:
        ours = self._whose.turn_id
        match heard:  # tried in this order: what every turn has comes first
            case MessageCreate(turn_id):
                return self._created(heard)
            case Finalize(turn_id) if turn_id == ours:
                self._whose.over()
                return [_finished(heard)]
            case Skipped():
                return ()
            case Status():
                return [events.Alive()]
            case UserJoined(user_id):
                if self._seat.joined(user_id):
                    self._came_back = True
                    return [events.Alive()]
                return ()
            case Init(data, session):
                told = self._init(data, session)
                self._ahead = None  # also of one that was not taken
                return told
            case AgentStatus(status=status, detail=detail) if self._concerns(heard):
                return [events.AgentStatus(status, detail)]
            case Question(question_id=question_id) if self._concerns(heard):
                payload = _fields(frame)
                del payload["type"]
                self._asked.ours(question_id)
                return [asking.question(question_id, payload)]
            case QuestionResolved(question_id=question_id, answer=answer):
                if self._closes(heard):
                    return [events.QuestionClosed(question_id, answer=answer or None)]
                return self._foreign()
            case QuestionExpired(question_id=question_id):
                if self._closes(heard):
                    return [events.QuestionClosed(question_id, expired=True)]
                return self._foreign()
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
                self._ended(turn_id, prompt_id)
                return self._foreign()
            case Complete(turn_id=turn_id, prompt_id=prompt_id):
                if not self._ended(turn_id, prompt_id):
                    self._whose.others.idle(channel(heard))
                    self._asked.idle(channel(heard))
                return self._foreign()
            case AgentStatus(turn_id=turn_id, status=status):
                return self._foreign(turn_id if status != "idle" else None, channel(heard))
            case Question(turn_id=turn_id, question_id=question_id):
                self._asked.anothers(question_id, place(heard))
                return self._foreign(turn_id, channel(heard))
            case ReasoningDelta(turn_id, delta) if turn_id == ours:
                return [events.ReasoningDelta(delta)]
            case ToolUpdate(turn_id) if turn_id == ours:
                return [_tool(heard)]
            case File(turn_id, url, mime) if turn_id == ours:
                return [events.FilePart(url, mime)]
            case Source(turn_id, source_id, url, title) if turn_id == ours:
                return [events.SourceUrl(source_id, url, title)]
            case Finalize(turn_id):
                self._ended(turn_id, None)
                return self._foreign()
            case ChunkDelta(message_id=turn_id):
                return self._foreign(turn_id)
            case TextDelta(turn_id) | ReasoningDelta(turn_id) | ToolUpdate(turn_id):
                return self._foreign(turn_id)
            case File(turn_id) | Source(turn_id):
                return self._foreign(turn_id)
            case _:
                assert_never(heard)

    def _created(self, create: MessageCreate) -> Sequence[Event]:
        whose, turn_id = self._whose, create.turn_id
        before = whose.turn_id
        its = channel(create) or DEFAULT_CHANNEL
        if whose.created(turn_id, create.prompt_id, its, harmless.short(create.user_id)):
            self._asked.over(turn_id)
            if before is not None:
                self._spellings = Spellings(self.tally)
            return [events.TurnStarted(self._message_id(turn_id))]
        if whose.at_a_loss:
            whose.over()
            return [events.Refused(Refusal.UNNAMED)]
        return [events.Alive()] if turn_id == before else self._foreign()

    def _ended(self, turn_id: str | None, prompt_id: str | None) -> bool:
        """Another turn ended. False: it is not said which."""
        if turn_id:
            self._asked.over(turn_id)
        return self._whose.ended(turn_id, prompt_id)

    def _foreign(
        self, turn_id: str | None = None, its_channel: Channel | None = None
    ) -> Sequence[Event]:
        """Drop a frame that is not about our turn; `turn_id` if it shows that another is open."""
        self.tally.foreign += 1
        if turn_id:
            self._whose.others.saw(turn_id, its_channel)
        return ()

    def _init(self, data: InitData, session: Raw) -> Sequence[Event]:
        return self._greeted(data, self._entries(session))

    def _entries(self, session: Raw) -> Iterable[hydration.Entry]:
        """The entries of the `init` that is heard now, read before or not."""
        return hydration.each(session) if self._ahead is None else self._ahead.take(session)

    def _greeted(self, data: InitData, entries: Iterable[hydration.Entry]) -> Sequence[Event]:
        running, its_channel = data.running_turn_id or None, None
        asked = deque[tuple[str, Place]](maxlen=Asked.OTHERS_MAX)
        is_busy = bool(running or data.runner_busy)
        for entry in entries:
            if entry.prompt_id:
                self._whose.names_prompts()
                if not is_busy:
                    break
            if is_busy and entry.is_open and entry.id != self._whose.turn_id:
                its_channel = entry.channel if entry.id == running else its_channel
                its = Place(entry.id, entry.prompt_id, entry.channel)
                asked.extend(zip(entry.open_questions, repeat(its)))
        for question_id, its in asked:
            self._asked.anothers(question_id, its)
        if is_busy:
            self._whose.busy(running, its_channel, earlier=not self._is_greeted)
        self._is_greeted = True
        return [events.Alive()]

    def _closes(self, closed: QuestionResolved | QuestionExpired) -> bool:
        """Whether a question of ours is closed: an answer of another's is shown to nobody else."""
        is_ours = self._concerns(closed)
        return self._asked.closed(closed.question_id, place(closed), is_ours=is_ours)

    def _concerns(self, frame: Unnamed) -> bool:
        return self._whose.concerns(frame.turn_id, frame.prompt_id, channel(frame))


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


class Prompting(Conversation):
    """Sends a prompt, and follows its turn."""

    def __init__(self, ask: Ask, seat: Seat) -> None:
        super().__init__((ask.channel_type, ask.channel_id), seat, ask.prompt_id, ask.user_id)
        self._ask = ask

    def open(self, _now: float) -> Sequence[Event]:
        self._seat.follow(self._ask.prompt_id)
        prompt = outgoing.prompt(self._ask)
        # A turn may last for hours, and only its ids are asked for now.
        self._ask = msgspec.structs.replace(self._ask, text="", attachments=())
        return [events.Send(prompt)]

    def unattended(self) -> None:
        self._seat.unattended(self._ask.user_id)

    def abort(self) -> Sequence[bytes]:
        if self.reach is not Reach.OURS:
            return ()
        return [outgoing.abort(self._ask, self._whose.turn_id)]
