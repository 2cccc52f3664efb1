"""A reader of a turn log, as an agent protocol: its frames are entries, and it sends nothing.

So a stream from the log has the headers, the keepalives, the limits and the end of any other.
"""

from collections.abc import Iterable, Iterator, Sequence

from turnwire.core import safe_json
from turnwire.core.agent import NEVER, AbortScope, Decoded, KeepsNothing
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    Event,
    Question,
    QuestionClosed,
    Queued,
    Reason,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.output import OutputProtocol
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn_log.entries import (
    Absent,
    Entry,
    Head,
    Joined,
    TooLong,
    UnreadableError,
    read,
)
from turnwire.core.turn_log.questions import ANSWER_SUFFIX
from turnwire.core.wire.frame_stats import FrameStats


class ReaderProtocol(KeepsNothing):
    """Follows a turn of the log from its start, and never aborts it.

    Its output is a `ReaderOutput`. A turn whose end a client received is not repeated, except for a
    client that names its prompt: that one counts its chunks, and lacks some.
    """

    deadline = NEVER
    has_other_watchers = False
    abort_scope = AbortScope.NONE

    def __init__(self, request: ResumeRequest, member: Member | None = None) -> None:
        self.accepted = self.queued = False
        self.frame_stats = FrameStats()
        self._prompt_id = request.prompt_id
        self._member = member or Member()
        self._taken_id: str | None = None
        self._backlog = 0
        """How many entries are to come that were there when we joined."""
        self._closed: frozenset[str] = frozenset()
        """The questions of the backlog that are closed by its end."""

    @property
    def has_caught_up(self) -> bool:
        """Whether all has come that was there when we joined."""
        return self._backlog <= 0

    def is_closed(self, question_id: str) -> bool:
        """Whether a question that comes now was closed before we joined."""
        return question_id in self._closed

    def connect_request(self) -> ConnectRequest:
        return ConnectRequest()

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded()

    def connection_lost(self, _now: float) -> None:
        """The log lost the turn: the process that ran it is gone."""

    def reply(self, _reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        return Decoded(rejection=Rejection.UNSUPPORTED)

    def prepare_frame(self, _frame: bytes) -> Iterator[None]:
        yield from ()  # only a single long event makes a long frame: there is nothing to count

    def receive_frame(self, frame: bytes, _now: float) -> Decoded | str | None:
        try:
            entries = read(frame)
        except UnreadableError:
            self.frame_stats.count_unreadable(frame)
            return _interrupted()
        if not self.accepted:
            return self._joined(entries)
        if self.has_caught_up:
            self._closed = frozenset()
        self._backlog -= len(entries)
        if len(entries) == 1 and isinstance(entries[0], TextDelta):
            return entries[0].text
        return Decoded(list(self._events(entries)))

    def tick(self, _now: float) -> Decoded:
        return Decoded()

    def client_detached(self) -> None: ...

    def unwatched(self) -> None:
        self._member.unwatched()

    def mark_stale(self) -> None: ...

    def abort(self) -> Sequence[bytes]:
        return ()

    def _joined(self, entries: Sequence[Entry]) -> Decoded:
        first, joined = [*entries[:2], None, None][:2]
        if isinstance(first, Absent):
            return Decoded(rejection=Rejection.NO_TURN)
        if isinstance(first, TooLong):
            return Decoded(rejection=Rejection.TOO_LONG)
        if not isinstance(first, Head) or not isinstance(joined, Joined):
            return _interrupted()
        named = self._prompt_id
        if named != first.prompt_id and (named is not None or joined.is_received):
            return Decoded(rejection=Rejection.NO_TURN)
        self.accepted = True
        self._backlog = joined.backlog
        self._taken_id = first.client_message_id
        self._member.follow(first.prompt_id)
        self._closed = frozenset(
            entry.question_id for entry in entries if isinstance(entry, QuestionClosed)
        )
        return Decoded()

    def _events(self, entries: Iterable[Entry]) -> Iterator[Event]:
        for entry in entries:
            if isinstance(entry, TurnStarted):
                self.queued = False
                self._member.follow(entry.turn_id)
                yield TurnStarted(self._message_id(entry.turn_id))
            elif isinstance(entry, Head | Joined | Absent | TooLong):
                yield from _interrupted().events
            else:
                self.queued = self.queued or isinstance(entry, Queued)
                yield entry

    def _message_id(self, turn_id: str) -> str:
        """The id that the stream of the prompt gave the message. A turn that starts over has it."""
        taken_id, self._taken_id = self._taken_id, None
        shown_id = safe_json.join_surrogates(turn_id)
        return shown_id + ANSWER_SUFFIX if shown_id == taken_id else turn_id


class ReaderOutput:
    """The output of a reader: it requests nothing that was answered before the reader joined.

    It ends at a request for approval only once the reader caught up. What the stream of the prompt
    got in one read, a reader gets in any number of reads.
    """

    __slots__ = (
        "_output",
        "_protocol",
        "can_pause",
        "fail",
        "feed",
        "feed_texts",
        "has_fixed_steps",
        "has_short_texts",
        "headers",
        "keepalive",
        "pause",
    )

    def __init__(self, output: OutputProtocol, protocol: ReaderProtocol) -> None:
        self.headers = output.headers
        self.keepalive = output.keepalive
        self.can_pause = output.can_pause
        self.has_short_texts = output.has_short_texts
        self.has_fixed_steps = output.has_fixed_steps
        self.feed, self.feed_texts = output.feed, output.feed_texts
        self.pause, self.fail = output.pause, output.fail
        self._output = output
        self._protocol = protocol

    @property
    def is_waiting(self) -> bool:
        return self._protocol.has_caught_up and self._output.is_waiting

    @property
    def contradicted_chars(self) -> int:
        return self._output.contradicted_chars

    def ask(self, question: Question, now: float, *, is_over: bool) -> bytes:
        is_over = is_over or self._protocol.is_closed(question.question_id)
        return self._output.ask(question, now, is_over=is_over)


def _interrupted() -> Decoded:
    return Decoded([TurnFinished(reason=Reason.ERROR, error=Outcome.INTERRUPTED.text)])
