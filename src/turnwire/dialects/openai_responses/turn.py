"""A turn on the `openai-responses` wire: one response, or several, if one asks for approvals.

Read this module first, then `progress`. A response is one request and the events that answer it. So
all events are ours. `TurnProtocol` decides where our responses begin and end.

    STARTING --first event--> RUNNING --completed, incomplete, failed, error--> OVER
                                 |
                                 +--completed, with requests for approvals--> WAITING --answers--> …

While a call is open behind `completed`, the agent may run its tool and go on: with the items of
its outcome, or with another response in the same body. So only the end of the body, or `[DONE]`,
ends the turn then.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.agent import ALIVE, NEVER, AbortScope, Decoded, StopsAtOnce
from turnwire.core.bounds import ID_MAX
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
from turnwire.core.wire import lenient
from turnwire.core.wire.census import census
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses import (
    approvals,
    calls,
    commands,
    errors,
    frames,
    reasons,
    text,
)
from turnwire.dialects.openai_responses.frames import Content, Read, decoder
from turnwire.dialects.openai_responses.progress import Progress

FILTERED: Final = "The answer was withheld by a content filter"
CUT_QUESTION: Final = "The agent asks something, but its response was cut short"
TOO_LONG: Final = "The agent asks something, but the turn is too long to go on after an answer"
UNREADABLE_QUESTION: Final = "The agent asks something that cannot be shown"
UNRUN: Final = "call that nobody ran"
"""What the log counts where a model is taken for an agent."""

HISTORY_MAX: Final = 524_288
"""Most bytes of the earlier conversation that are kept for a next response."""

_DEPTH: Final = 6
"""How deep the values of a frame are that are decoded into objects."""


class _Stage(enum.Enum):
    STARTING = enum.auto()
    """A response of ours was requested, and has not begun."""
    RUNNING = enum.auto()
    WAITING = enum.auto()
    """Our response asked for approvals. Their answers begin another."""
    OVER = enum.auto()


_STARTING, _RUNNING, _WAITING, _OVER = _Stage  # an enum's attributes are slow


class _Response(Struct, frozen=True):
    id: Raw = Raw()
    status: Raw = Raw()
    output: Raw = Raw()
    usage: Raw = Raw()
    error: Raw = Raw()
    incomplete_details: Raw = Raw()


_decode_response = msgspec.json.Decoder(_Response).decode


class TurnProtocol(StopsAtOnce):
    """One turn, without I/O."""

    accepted = True
    queued = False
    has_other_watchers = False
    deadline = NEVER

    def __init__(self, request: AgentRequest, turn_id: str, sent: Sequence[bytes]) -> None:
        """Make the turn `turn_id`. `sent` are the items of its first request."""
        self.frame_stats = FrameStats()
        self._turn_id = turn_id
        self._options = request.options
        self._thread = commands.thread_of(request)
        self._sent = sent
        """The items of the first response. They are kept if the next one needs them again."""
        self._session = request.agent_session
        is_named = self._options.names_previous_response
        self._previous = self._session.known if is_named else None
        """The agent's id of the response that the next one goes on with."""
        self._stage = _STARTING
        self._has_begun = False
        self._response_id: str | None = None
        """The id of the response that runs; empty if it has none. None: it has not begun."""
        self._is_awaiting_end = False
        """Whether the response is over, and only the end of the body shows that the turn is."""
        self._quiet: type[Read] | None = None
        """The type of the last event, if it told nothing. The same once more is a keep-alive."""
        self._progress = Progress(
            turn_id,
            self.frame_stats,
            is_kept=self._options.sends_history and sum(map(len, sent)) <= HISTORY_MAX,
        )
        self._open: dict[str, str] = {}
        """The questions that are open, each with the id of its call."""
        self._answers: list[tuple[str, Raw]] = []

    # The connection.

    def connect_request(self) -> ConnectRequest:
        """Return the request of the next response, with the answers that it begins with."""
        answers, self._answers = self._answers, []
        sent = [*self._sent, *self._progress.items.all, *approvals.answering_items(answers)]
        if not self._options.sends_history or not self._progress.items.is_whole:
            self._sent = ()
        return commands.response(self._options, self._thread, sent, self._previous)

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded()

    def connection_lost(self, _now: float) -> Decoded | None:
        if self._is_awaiting_end:
            return self._end([], None)
        return Decoded() if self._stage is _WAITING else None

    @property
    def kept_bytes(self) -> int:
        return sum(map(len, self._sent)) + self._progress.kept_bytes

    def forget(self) -> None:
        self._sent = ()
        self._progress.forget()

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.OURS if self._stage in {_STARTING, _RUNNING} else AbortScope.NONE

    def abort(self) -> Sequence[bytes]:
        """Return no frames: to abort is to close the connection."""
        return ()

    def client_detached(self) -> None:
        """Do nothing: a turn has no other watchers."""

    def unwatched(self) -> None:
        """Do nothing, as above."""

    def mark_stale(self) -> None:
        """Do nothing: an abort stops our turn alone."""

    def tick(self, _now: float) -> Decoded:
        return Decoded()

    # The events.

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return census(raw, _DEPTH)

    def receive_frame(self, raw: bytes, _now: float) -> Decoded | str | None:
        if raw.startswith(b"[DONE]"):  # some servers end each stream so
            return self._end([], None) if self._is_awaiting_end else None
        frame = decoder.read(raw, self.frame_stats)
        if frame is None:
            return None
        if self._stage in {_WAITING, _OVER}:
            self.frame_stats.foreign += 1
            return None
        # Deltas come first, because they come by the hundred thousand.
        if type(frame) is frames.TextDelta and self._has_begun:
            texts = self._progress.texts
            key = (text.TEXT, frame.output_index, frame.content_index)
            if key == texts.current and frame.output_index >= 0:
                texts.note(key, frame.delta)
                return frame.delta or None
        try:
            return self._take(frame, len(raw))
        except (RecursionError, ValueError):
            # Nested too deeply, although the frame could be decoded, or another type of value.
            self.frame_stats.count_malformed(raw)
            return None

    def reply(self, reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        call_id = self._open.pop(reply.question_id, None)
        if call_id is None:
            return Decoded()
        self._answers.append((reply.question_id, reply.answer))
        new: list[Event] = [QuestionClosed(reply.question_id, answer=reply.answer)]
        if not approvals.is_yes(reply.answer):
            new += self._progress.calls.outcome(call_id, error=approvals.DENIED)
        return Decoded(new) if self._open else self._next_response(new)

    def _take(self, frame: Read, size: int) -> Decoded | str | None:
        if isinstance(frame, Content):
            return self._content(frame, size)
        match frame:
            case frames.Created(raw):
                return self._created(frame, raw)
            case frames.InProgress() | frames.Skipped():
                return self._no_content(frame)
            case frames.KeepAlive():
                return None
            case frames.Completed(raw):
                return self._completed(raw)
            case frames.Incomplete(raw):
                return self._incomplete(raw)
            case frames.Failed(raw):
                return self._response_failed(raw)
            case frames.Cancelled(raw):
                self._note(raw)
                return self._over([], Reason.CANCELED)
            case frames.Failure(message, code, error):
                return self._failed([], error if errors.is_error(error) else message, code)
            case _:
                assert_never(frame)

    def _content(self, frame: Content, size: int) -> Decoded | str | None:
        new = self._begun(self._progress.take(frame, size))
        if isinstance(frame, frames.TextDelta):
            self._is_awaiting_end = False
        if not new:
            is_empty = isinstance(frame, frames.Delta) and not frame.delta
            return None if is_empty else ALIVE
        self._quiet = None
        if len(new) == 1 and isinstance(new[0], TextDelta):
            return new[0].text
        return Decoded(new)

    def _no_content(self, frame: Read) -> Decoded | None:
        """An event that shows that the agent lives, unless it only repeats the one before."""
        new = self._begun([])
        if not new and type(frame) is self._quiet:
            return None
        self._quiet = type(frame)
        return Decoded(new) if new else ALIVE

    def _created(self, frame: frames.Created, raw: Raw) -> Decoded | None:
        """A response begins: the one that was asked for, or another one in the same body."""
        response = lenient.field(_decode_response, raw) or _Response()
        response_id = safe_json.short_string(response.id) or ""
        is_same = response_id == self._response_id and not self._is_awaiting_end
        if self._response_id is not None and not (is_same and response_id):
            self._progress.next_response()
        self._response_id, self._is_awaiting_end = response_id, False
        return self._no_content(frame)

    def _begun(self, new: list[Event]) -> list[Event]:
        """The events, behind the beginning of the turn if it is not there."""
        self._stage = _RUNNING
        if self._has_begun:
            return new
        self._has_begun = True
        return [TurnStarted(self._turn_id), *new]

    def _note(self, raw: Raw) -> _Response:
        """Note the usage of a response that is over."""
        response = lenient.field(_decode_response, raw) or _Response()
        self._progress.note_usage(response.usage)
        # The end has the id by which the agent knows it, if it is another one.
        self._response_id = safe_json.short_string(response.id) or self._response_id
        return response

    def _completed(self, raw: Raw) -> Decoded:
        """The response is over. Some servers say so whatever its status is."""
        response = self._note(raw)
        new = self._begun(self._progress.end_response(response.output))
        match safe_json.short_string(response.status):
            case "failed":
                return self._failed(new, response.error, Raw())
            case "cancelled":
                return self._over(new, Reason.CANCELED)
            case "incomplete":
                return self._cut_short(new, response)
            case _ if self._progress.asked.has_unreadable:
                return self._over(new, Reason.ERROR, error=UNREADABLE_QUESTION)
            case _ if self._progress.asked.requests:
                return self._ask(new)
            case _ if self._progress.calls.are_unrun:
                self._is_awaiting_end = True
                self._progress.texts.interrupt()
                return Decoded(new)
            case _:
                return self._end(new, None)

    def _incomplete(self, raw: Raw) -> Decoded:
        response = self._note(raw)
        return self._cut_short(self._begun(self._progress.end_response(response.output)), response)

    def _cut_short(self, new: list[Event], response: _Response) -> Decoded:
        asked = self._progress.asked
        if asked.requests or asked.has_unreadable:
            return self._over(new, Reason.ERROR, error=CUT_QUESTION)
        return self._end(new, reasons.read(response.incomplete_details) or "length")

    def _response_failed(self, raw: Raw) -> Decoded:
        return self._failed([], self._note(raw).error, Raw())

    def _failed(self, new: list[Event], error: Raw, code: Raw) -> Decoded:
        """The turn failed. Nothing that follows counts, however the body ends."""
        self.frame_stats.error_code = errors.code_of(error, code)
        return self._over(new, Reason.ERROR, error=safe_json.error_message(error))

    def _end(self, new: list[Event], cut_short: str | None) -> Decoded:
        """The answer is whole, or as long as it may be."""
        progress = self._progress
        if progress.calls.are_unrun:
            self.frame_stats.count_left_out(UNRUN, 0)
            cut_short = cut_short or "tool-calls"
        elif self._options.names_previous_response and self._response_id:
            # None that waits for outputs: no prompt can go on with it.
            self._session.keep(self._response_id)
        new = [*new, *progress.calls.settle(calls.NOBODY_RAN)]
        if progress.texts.has_refusal:
            cut_short = "refusal"
        elif cut_short == "content-filter" and not progress.texts.has_text:
            return self._over(new, Reason.ERROR, error=FILTERED)
        return self._over(new, Reason.END_TURN, cut_short=cut_short)

    def _over(
        self,
        new: Sequence[Event],
        reason: Reason,
        *,
        error: str | None = None,
        cut_short: str | None = None,
    ) -> Decoded:
        self._stage, self._is_awaiting_end = _OVER, False
        progress = self._progress
        end = TurnFinished(reason=reason, error=error, usage=progress.usage, cut_short=cut_short)
        return Decoded([*new, *progress.finish(), end])

    def _ask(self, new: Sequence[Event]) -> Decoded:
        """The response asked for approvals. The next one begins when all of them have an answer."""
        progress = self._progress
        progress.items.answer_unrun()
        if self._options.names_previous_response:
            self._previous = self._response_id or None
        requests = progress.asked.take().values()
        questions = [approvals.question(each, self._previous) for each in requests]
        if any(len(each.question_id) > ID_MAX for each in questions):
            return self._over(new, Reason.ERROR, error=UNREADABLE_QUESTION)
        self._stage = _WAITING
        self._open = {
            each.question_id: request.request_id
            for each, request in zip(questions, requests, strict=True)
        }
        settled: list[Event] = []
        for call_id in progress.calls.open_ids:  # a client answers when no other call is open
            if call_id not in self._open.values():
                settled += progress.calls.outcome(call_id, error=calls.NO_RESULT)
        progress.next_response()
        return Decoded([*new, *settled, *questions])

    def _next_response(self, new: Sequence[Event]) -> Decoded:
        if self._options.sends_history and not self._progress.items.is_whole:
            return self._over(new, Reason.ERROR, error=TOO_LONG)
        self._response_id = None
        self._stage = _STARTING
        return Decoded(new, connect=self.connect_request())


class PromptProtocol(TurnProtocol):
    """A turn that begins with a prompt."""

    def __init__(self, request: PromptRequest) -> None:
        super().__init__(request, request.prompt_id, commands.prompt(request))
