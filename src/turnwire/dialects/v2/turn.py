"""The protocol of one turn on the `v2` wire: finds the frames of our turn, and makes their events.

`PromptProtocol` sends a prompt; `resume` and `continuation` have the other two
protocols. The wire is described in docs/v2.md. Its peculiarities stay in this package:

* every socket of a session gets the frames of every turn (`binding`, `open_turns`);
* a text delta may come in either of two frame types, or in both (`delta_dedup`);
* a frame of unknown type is counted and is no error; hydration and domain frames are counted
  by their type, and skipped.

A new frame is a struct and a member of `Read`, in `frames`. mypy then names each `match` that
lacks it.
"""

import abc
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Annotated, assert_never

import msgspec
from msgspec import Raw

from turnwire.core import events, safe_json
from turnwire.core.agent import ALIVE, NEVER, AbortScope, Decoded, OneConnection
from turnwire.core.bounds import FEW
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Event, Reason
from turnwire.core.rejection import Rejection
from turnwire.core.requests import DEFAULT_CHANNEL, Channel, PromptRequest
from turnwire.core.session_group import Member
from turnwire.core.ui_stream.media import is_shown
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.schema import tag_of
from turnwire.dialects.v2 import commands, init, progress, questions
from turnwire.dialects.v2.binding import TurnBinding
from turnwire.dialects.v2.delta_dedup import CHUNK, PART, DeltaDeduplicator
from turnwire.dialects.v2.frames import (
    AgentError,
    AgentStatus,
    ChunkDelta,
    Complete,
    Data,
    File,
    Finalize,
    Init,
    InitData,
    MessageCreate,
    Question,
    QuestionEnd,
    QuestionExpired,
    QuestionResolved,
    Read,
    ReasoningDelta,
    Retract,
    Skipped,
    Source,
    Status,
    Step,
    TextDelta,
    ToolInputDelta,
    ToolUpdate,
    Unnamed,
    UserJoined,
    channel_of,
    decode,
    decoder,
    turn_ref,
)
from turnwire.dialects.v2.questions import OpenQuestions, TurnRef

_decode_fields = msgspec.json.Decoder(Annotated[dict[str, Raw], FEW]).decode


class TurnProtocol(OneConnection, abc.ABC):
    """One turn on one connection, without I/O. A subclass decides how the turn begins."""

    accepted = True
    deadline = NEVER

    def __init__(
        self, channel: Channel, member: Member, prompt_id: str | None = None, user_id: str = ""
    ) -> None:
        self.frame_stats = FrameStats()
        self.channel = channel
        self._member = member
        self._binding = TurnBinding(channel, member, prompt_id, user_id)
        self._is_queued_reported = False
        """Whether `Queued` was returned since our prompt waits."""
        self._deduplicator = DeltaDeduplicator(self.frame_stats)
        self._open_questions = OpenQuestions()
        self._has_init = self._has_user_returned = False
        self._ahead: init.Ahead | None = None

    @property
    def queued(self) -> bool:
        return self._binding.is_queued

    @property
    def abort_scope(self) -> AbortScope:
        return self._binding.abort_scope

    @property
    def has_other_watchers(self) -> bool:
        return self._has_user_returned or self._member.has_other_watchers

    def connect_request(self) -> ConnectRequest:
        return commands.CONNECT

    @abc.abstractmethod
    def connection_opened(self, _now: float, /) -> Decoded:
        """The connection is open."""
        ...

    def unwatched(self) -> None:
        self._member.unwatched()

    def client_detached(self) -> None:
        """Do nothing: this is for a stream that may abort, after a prompt or an answer."""

    def mark_stale(self) -> None:
        """Do nothing: an abort names its turn, so an abort that is late stops no other turn."""

    def abort(self) -> Sequence[bytes]:
        return ()

    def tick(self, _now: float) -> Decoded:
        return Decoded()

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        self._ahead = init.Ahead()
        return init.prepare_frame(raw, self._ahead)

    def receive_frame(self, raw: bytes, _now: float) -> Decoded | str | None:
        try:
            frame = decode(raw)
        except msgspec.ValidationError:
            decoder.count_rejected(raw, self.frame_stats)
            return None
        except (msgspec.DecodeError, RecursionError):
            recovered = decoder.recover(raw, self.frame_stats)
            if recovered is None:
                return None
            frame, raw = recovered
        # Deltas come first, and in this function, because they come by the hundred thousand.
        if type(frame) is TextDelta and frame.turn_id == self._binding.turn_id:
            return self._deduplicator.new_text(PART, frame.delta)
        if type(frame) is ChunkDelta and frame.message_id == self._binding.turn_id:
            return self._deduplicator.new_text(CHUNK, frame.content)
        try:
            return self._interpret(frame, raw)
        except (RecursionError, msgspec.ValidationError):
            # Nested too deeply, although the frame could be decoded, or a field too many.
            self.frame_stats.count_unreadable(raw)
            return None

    def _interpret(self, frame: Read, raw: bytes) -> Decoded | None:
        """What a frame means, and the event of a change in the queue before our prompt."""
        binding = self._binding
        was_queued = binding.is_queued
        turns_before = len(binding.open_turns) if was_queued else 0
        decoded = self._interpret_frame(frame, raw)
        is_queued = binding.is_queued
        if is_queued and not self._is_queued_reported:
            self._is_queued_reported = True
            decoded = decoded or ALIVE
            return msgspec.structs.replace(decoded, events=[*decoded.events, events.Queued()])
        self._is_queued_reported = is_queued
        if was_queued and len(binding.open_turns) < turns_before:
            return decoded or ALIVE  # our prompt moved up in the queue
        return decoded

    def _message_id(self, turn_id: str) -> str:
        """The id of a turn's message in the stream to the client."""
        return turn_id

    def _interpret_frame(self, frame: Read, raw: bytes) -> Decoded | None:
        """What a frame means for our turn. `raw` is the frame in strict JSON."""
        ours = self._binding.turn_id
        match frame:  # in this order: the frames that every turn has come first
            case MessageCreate(turn_id):
                return self._turn_created(frame)
            case Finalize(turn_id) if turn_id == ours:
                self._binding.finish()
                return Decoded([progress.turn_finished(frame)])
            case Skipped():
                self.frame_stats.count_left_out(tag_of(type(frame)), len(raw))
                return None
            case Status():
                return ALIVE
            case UserJoined(user_id):
                if self._member.joined(user_id):
                    self._has_user_returned = True
                    return ALIVE
                return None
            case Init(data, session):
                decoded = self._init_received(data, session)
                self._ahead = None  # also where `_init_received` did not use its entries
                return decoded
            case AgentStatus(status=status, detail=detail) if self._concerns(frame):
                return Decoded([events.AgentStatus(status, detail)])
            case Question(question_id=question_id) if self._concerns(frame):
                payload = _decode_fields(raw)
                del payload["type"]
                self._open_questions.add_ours(question_id)
                return Decoded([questions.question(question_id, payload)])
            case QuestionResolved(question_id=question_id, answer=answer):
                if self._closes_our_question(frame):
                    return Decoded([events.QuestionClosed(question_id, answer=answer or None)])
                return self._drop_foreign()
            case QuestionExpired(question_id=question_id):
                if self._closes_our_question(frame):
                    return Decoded([events.QuestionClosed(question_id, expired=True)])
                return self._drop_foreign()
            case AgentError(message=message, error=error) if self._concerns(frame):
                self._binding.finish()
                text = safe_json.error_message(message) or safe_json.error_message(error)
                return Decoded([events.TurnFinished(reason=Reason.ERROR, error=text)])
            case Complete() if self._concerns(frame):
                if not self._binding.is_running:
                    return None
                self._binding.finish()
                return Decoded([events.TurnFinished(reason=Reason.END_TURN)])
            case AgentError(turn_id=turn_id, prompt_id=prompt_id):
                self._other_turn_ended(turn_id, prompt_id)
                return self._drop_foreign()
            case Complete(turn_id=turn_id, prompt_id=prompt_id):
                if not self._other_turn_ended(turn_id, prompt_id):
                    self._binding.open_turns.channel_idle(channel_of(frame))
                    self._open_questions.channel_idle(channel_of(frame))
                return self._drop_foreign()
            case AgentStatus(turn_id=turn_id, status=status):
                return self._drop_foreign(turn_id if status != "idle" else None, channel_of(frame))
            case Question(turn_id=turn_id, question_id=question_id):
                self._open_questions.add_elsewhere(question_id, turn_ref(frame))
                return self._drop_foreign(turn_id, channel_of(frame))
            case (
                ReasoningDelta(turn_id)
                | ToolInputDelta(turn_id)
                | File(turn_id)
                | Source(turn_id)
                | Data(turn_id)
                | Step(turn_id)
            ) if turn_id == ours:
                return Decoded([self._counted(progress.content_event(frame))])
            case ToolUpdate(turn_id) if turn_id == ours:
                return Decoded(progress.call_events(frame))
            case Retract(turn_id, since) if turn_id == ours:
                return Decoded([self._retracted(since)])
            case Finalize(turn_id):
                self._other_turn_ended(turn_id, None)
                return self._drop_foreign()
            case ChunkDelta(message_id=turn_id):
                return self._drop_foreign(turn_id)
            case TextDelta(turn_id) | ReasoningDelta(turn_id) | ToolInputDelta(turn_id):
                return self._drop_foreign(turn_id)
            case ToolUpdate(turn_id) | File(turn_id) | Source(turn_id) | Data(turn_id):
                return self._drop_foreign(turn_id)
            case Step(turn_id) | Retract(turn_id):
                return self._drop_foreign(turn_id)
            case _:
                assert_never(frame)

    def _counted(self, event: Event) -> Event:
        """Count a file or a source whose URL no client is sent."""
        if isinstance(event, events.FilePart | events.SourceUrl) and not is_shown(event):
            kind = "file" if isinstance(event, events.FilePart) else "source"
            what = f"{kind} with a URL that no client is sent"
            self.frame_stats.count_left_out(what, len(event.url))
        return event

    def _retracted(self, since: int) -> Event:
        """An attempt was lost. The next one may repeat its text, in either type of frame."""
        self._deduplicator = DeltaDeduplicator(self.frame_stats)
        return events.PartsRetracted(since)

    def _turn_created(self, create: MessageCreate) -> Decoded | None:
        """A turn was created: ours, ours started over, or another one."""
        binding, turn_id = self._binding, create.turn_id
        former_id = binding.turn_id
        channel = channel_of(create) or DEFAULT_CHANNEL
        if binding.turn_created(
            turn_id, create.prompt_id, channel, safe_json.short_string(create.user_id)
        ):
            self._open_questions.turn_finished(turn_id)
            if former_id is not None:
                self._deduplicator = DeltaDeduplicator(self.frame_stats)
            return Decoded([events.TurnStarted(self._message_id(turn_id))])
        if binding.is_ambiguous:
            binding.finish()
            return Decoded(rejection=Rejection.UNNAMED)
        return ALIVE if turn_id == former_id else self._drop_foreign()

    def _other_turn_ended(self, turn_id: str | None, prompt_id: str | None) -> bool:
        """Another turn ended. Returns False if the frame does not say which."""
        if turn_id:
            self._open_questions.turn_finished(turn_id)
        return self._binding.other_turn_ended(turn_id, prompt_id)

    def _drop_foreign(
        self, turn_id: str | None = None, channel: Channel | None = None
    ) -> Decoded | None:
        """Drop a frame of another turn. Pass `turn_id` if the frame shows that the turn is open."""
        self.frame_stats.foreign += 1
        if turn_id:
            self._binding.open_turns.turn_seen(turn_id, channel)
        return None

    def _init_received(self, data: InitData, session: Raw) -> Decoded | None:
        return self._note_other_turns(data, self._entries(session))

    def _entries(self, session: Raw) -> Iterable[init.Entry]:
        """The entries of the `init` that is received now, read ahead or not."""
        return init.each_entry(session) if self._ahead is None else self._ahead.take(session)

    def _note_other_turns(self, data: InitData, entries: Iterable[init.Entry]) -> Decoded:
        """Keep the turns that `init` shows to be open, and the questions that they wait for."""
        running_id, running_channel = data.running_turn_id or None, None
        foreign = deque[tuple[str, TurnRef]](maxlen=OpenQuestions.ELSEWHERE_MAX)
        is_busy = bool(running_id or data.runner_busy)
        for entry in entries:
            if entry.prompt_id:
                self._binding.prompt_id_seen()
                if not is_busy:
                    break
            if is_busy and entry.is_open and entry.id != self._binding.turn_id:
                running_channel = entry.channel if entry.id == running_id else running_channel
                turn = TurnRef(entry.id, entry.prompt_id, entry.channel)
                foreign.extend(zip(entry.open_questions, repeat(turn)))
        for question_id, turn in foreign:
            self._open_questions.add_elsewhere(question_id, turn)
        if is_busy:
            self._binding.agent_busy(running_id, running_channel, is_earlier=not self._has_init)
        self._has_init = True
        return ALIVE

    def _closes_our_question(self, frame: QuestionEnd) -> bool:
        """Whether a frame closes our question. A foreign answer must not reach our client."""
        is_ours = self._concerns(frame)
        return self._open_questions.question_closed(
            frame.question_id, turn_ref(frame), is_ours=is_ours
        )

    def _concerns(self, frame: Unnamed) -> bool:
        """Whether a frame that need not name its turn is about ours."""
        return self._binding.concerns(frame.turn_id, frame.prompt_id, channel_of(frame))


class PromptProtocol(TurnProtocol):
    """Sends a prompt, and follows its turn."""

    def __init__(self, request: PromptRequest, member: Member) -> None:
        super().__init__(request.channel, member, request.prompt_id, request.user_id)
        self._request = request

    def connection_opened(self, _now: float) -> Decoded:
        self._member.follow(self._request.prompt_id)
        prompt = commands.prompt(self._request)
        # From now on only the ids are used, and a turn may last for hours: free the content.
        self._request = msgspec.structs.replace(self._request, text="", attachments=())
        return Decoded(to_agent=[prompt])

    def client_detached(self) -> None:
        self._member.client_detached(self._request.user_id)

    def abort(self) -> Sequence[bytes]:
        if self.abort_scope is not AbortScope.OURS:
            return ()
        return [commands.abort(self._request, self._binding.turn_id)]
