"""A turn on the `ui-stream` wire: one response, or several, if approvals are asked for.

Read this module first, then `progress`. A response is one message of the agent, and begins with a
request of ours. So all of its chunks are ours. `TurnProtocol` decides where a response ends. What
the chunks before that tell stands in `progress`.

A response ends with `finish`, `error`, `abort` or `[DONE]`, whatever comes first: agents leave some
of them out, or send more behind them. A body that ends without any of these is a cut.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from turnwire.core import safe_json
from turnwire.core.agent import ALIVE, NEVER, AbortScope, Decoded, StopsAtOnce
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    Event,
    QuestionClosed,
    Reason,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.requests import AgentRequest, PromptRequest, QuestionReply
from turnwire.core.wire.census import census
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.thread_id import thread_id
from turnwire.dialects.ui_stream import approvals, commands, frames, messages
from turnwire.dialects.ui_stream.approvals import Answered
from turnwire.dialects.ui_stream.frames import ContentFrame, decode, decoder
from turnwire.dialects.ui_stream.progress import Progress
from turnwire.dialects.ui_stream.transcript import Transcript

UNREADABLE_QUESTION: Final = "The agent asks something that cannot be shown"
TOO_LONG: Final = "The agent asks something, but the turn is too long to go on after an answer"

NO_CHUNKS: Final = "The agent answered without a chunk of a UI message stream"

_CUT_SHORT: Final = frozenset({"length", "content-filter"})
"""Reasons for which an answer is not whole."""

HISTORY_MAX: Final = 524_288
"""Most bytes of the earlier conversation that are kept for a next response."""

CENSUS_DEPTH: Final = 1
"""Of the values in a chunk none is decoded."""


class _Stage(enum.Enum):
    RUNNING = enum.auto()
    """A response was requested, and has not ended."""
    WAITING = enum.auto()
    """A response ended with questions. Their answers begin another."""
    OVER = enum.auto()


class TurnProtocol(StopsAtOnce):
    """One turn, without I/O."""

    accepted = True
    queued = False
    has_other_watchers = False
    deadline = NEVER

    def __init__(
        self,
        request: AgentRequest,
        turn_id: str,
        sent: Sequence[bytes],
        *,
        message_id: str | None = None,
        regenerates: bool = False,
        has_begun: bool = False,
    ) -> None:
        """Make the turn `turn_id`. `sent` are the messages for it, as `messages.write` wrote them.

        `message_id` is the client's id of the message that the turn replaces or goes on with.
        `has_begun`: the client has the beginning of the turn.
        """
        self.frame_stats = FrameStats()
        self._turn_id = turn_id
        self._chat_id = thread_id(request.session_id, request.channel.type, request.channel.id)
        self._sent = sent
        """What the first response is requested with. It is kept if the next one needs it again."""
        self._needs_sent = request.options.sends_history or has_begun
        """Whether the next response needs it: the agent keeps nothing, or it has our message."""
        self._is_short = sum(map(len, sent)) <= HISTORY_MAX
        self._message_id = message_id
        self._regenerates = regenerates
        self._stage = _Stage.RUNNING
        self._has_begun = has_begun
        self._is_empty = True
        """Whether this response had no chunk that is known."""
        self._progress = Progress(self.frame_stats, Transcript(turn_id, goes_on=has_begun))
        self._fast_id: str | None = None
        self._answers: list[Answered] = []
        self._open: dict[str, approvals.Asked] = {}

    # The connection.

    def connect_request(self) -> ConnectRequest:
        """Return the request of the next response, with the answers that it begins with."""
        pieces = [*self._sent, *self._progress.transcript.pieces()]
        request = commands.chat(
            chat_id=self._chat_id,
            sent=messages.joined(pieces, approvals.parts(self._answers)),
            message_id=self._message_id,
            regenerates=self._regenerates,
        )
        self._answers = []
        if not self._needs_sent or not self._is_short:
            self._sent = ()
        return request

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded()

    def connection_lost(self, _now: float) -> Decoded | None:
        return Decoded() if self._stage is _Stage.WAITING else None

    @property
    def kept_bytes(self) -> int:
        return sum(map(len, self._sent)) + self._progress.transcript.kept_bytes

    def forget(self) -> None:
        self._progress.transcript.forget()
        self._sent = ()

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.OURS if self._stage is _Stage.RUNNING else AbortScope.NONE

    def abort(self) -> Sequence[bytes]:
        """Return no frames: to abort is to close the connection."""
        return ()

    def client_detached(self) -> None:
        """Do nothing: a response has no other watchers."""

    def unwatched(self) -> None:
        """Do nothing, as above."""

    def mark_stale(self) -> None:
        """Do nothing: an abort stops our response alone."""

    def tick(self, _now: float) -> Decoded:
        """Do nothing: there is no deadline."""
        return Decoded()

    # The chunks.

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return census(raw, CENSUS_DEPTH)

    def receive_frame(self, raw: bytes, _now: float) -> Decoded | str | None:
        try:
            frame = decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return self._receive_other(raw)
        # Deltas come first, and in this function, because they come by the hundred thousand.
        if type(frame) is frames.TextDelta and frame.id == self._fast_id:
            self._progress.transcript.text(frame.id, frame.delta)
            return frame.delta or None
        return self._interpret(frame, raw)

    def reply(self, reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        asked = self._open.pop(reply.question_id, None)
        call = None if asked is None else self._progress.calls.described(asked.call_id)
        if call is None:
            return Decoded()
        self._answer(Answered(reply.question_id, call, reply.answer))
        closed = QuestionClosed(reply.question_id, answer=reply.answer)
        if self._open:
            return Decoded([closed])
        return self._next_response(closed)

    def _answer(self, answered: Answered) -> None:
        self._answers.append(answered)
        reason = approvals.denial(answered.answer)
        if reason is not None:
            self._progress.denials[answered.call.call_id] = reason

    def _receive_other(self, raw: bytes) -> Decoded | str | None:
        """Take what is no chunk of a known type in strict JSON."""
        if raw.strip() == frames.DONE:
            return self._done() if self._stage is _Stage.RUNNING else None
        if safe_json.frame_type(raw).startswith(frames.DATA):
            return self._receive_data(raw)
        frame = decoder.read(raw, self.frame_stats)
        return None if frame is None else self._interpret(frame, raw)

    def _receive_data(self, raw: bytes) -> Decoded | str | None:
        try:
            part = frames.data_part(raw)
        except (msgspec.DecodeError, RecursionError):
            try:
                part = frames.data_part(safe_json.parse_strictly(raw)[0])
            except (msgspec.DecodeError, ValueError, RecursionError):
                self.frame_stats.count_malformed(raw)
                return None
        if self._stage is not _Stage.RUNNING:
            self.frame_stats.foreign += 1
            return None
        return self._tell(self._progress.data(part))

    def _interpret(self, frame: frames.Read, raw: bytes) -> Decoded | str | None:
        if self._stage is not _Stage.RUNNING:
            self.frame_stats.foreign += 1
            return None
        if isinstance(frame, frames.Finish):
            return self._end(safe_json.short_string(frame.finish_reason))
        if isinstance(frame, frames.Error):
            return self._over([], Reason.ERROR, safe_json.error_message(frame.error_text))
        if isinstance(frame, frames.Abort):
            return self._over([], Reason.CANCELED)
        return self._take(frame, raw)

    def _take(self, frame: ContentFrame, raw: bytes) -> Decoded | str | None:
        """Return what a chunk tells of the message."""
        new = self._progress.take(frame, len(raw))
        if not new and getattr(frame, "delta", None) == "":
            return None  # an agent sends it to keep the connection, or its model does
        return self._tell(new)

    def _tell(self, new: Sequence[Event]) -> Decoded | str:
        """Return what a chunk tells. The first one begins the turn, whatever it is."""
        self._fast_id, self._is_empty = self._progress.fast_id, False
        if not self._has_begun:
            self._has_begun = True
            return Decoded([TurnStarted(self._turn_id), *new])
        if len(new) == 1 and isinstance(new[0], TextDelta):
            return new[0].text
        return Decoded(new) if new else ALIVE

    def _done(self) -> Decoded:
        """The body is over. One without any chunk of this wire is another wire's."""
        return self._over([], Reason.ERROR, NO_CHUNKS) if self._is_empty else self._end()

    def _end(self, reason: str | None = None) -> Decoded:
        """The response is over. `reason` is its `finishReason`, if it has one."""
        if reason == "error":
            return self._over([], Reason.ERROR)
        asked = self._progress.asked
        if not asked and not self._progress.has_unreadable:
            self._stage, self._fast_id = _Stage.OVER, None
            cut_short = reason if reason in _CUT_SHORT else None
            return Decoded([TurnFinished(reason=Reason.END_TURN, cut_short=cut_short)])
        calls = [self._progress.calls.described(call_id) for call_id in asked]
        known = [call for call in calls if call is not None]
        if len(known) < len(calls) or self._progress.has_unreadable:
            return self._over([], Reason.ERROR, UNREADABLE_QUESTION)
        self._stage, self._fast_id = _Stage.WAITING, None
        settled: list[Event] = []
        for call_id in self._progress.calls.open_ids:
            if call_id not in asked:  # a client answers only when no other call is open
                settled += self._progress.failed(call_id, messages.NO_RESULT)
        self._open = {each.question_id: each for each in asked.values()}
        questions = [
            approvals.question(each, call) for each, call in zip(asked.values(), known, strict=True)
        ]
        return Decoded([*settled, *questions])

    def _over(self, new: Sequence[Event], reason: Reason, error: str | None = None) -> Decoded:
        self._stage, self._fast_id = _Stage.OVER, None
        return Decoded([*new, TurnFinished(reason=reason, error=error)])

    def _next_response(self, closed: QuestionClosed) -> Decoded:
        if not self._progress.transcript.is_whole or (self._needs_sent and not self._is_short):
            return self._over([closed], Reason.ERROR, TOO_LONG)
        self._stage, self._is_empty = _Stage.RUNNING, True
        self._message_id, self._regenerates = self._turn_id, False
        self._progress.next_response()
        return Decoded([closed], connect=self.connect_request())


class PromptProtocol(TurnProtocol):
    """A turn that begins with a prompt."""

    def __init__(self, request: PromptRequest) -> None:
        super().__init__(
            request,
            request.prompt_id,
            commands.prompt(request),
            message_id=request.replaces,
            regenerates=request.regenerates,
        )
