"""A turn on the `ag-ui` wire: one run, or several, if a run ends with questions.

Read this module first, then `progress`. A run is one request and its response. So all events of the
response are ours, except those between the start of a run that is not ours and the start of ours.
`TurnProtocol` decides where our runs begin and end. What the events in between tell stands in
`progress`.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias, assert_never

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
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.thread_id import thread_id
from turnwire.dialects.ag_ui import asking, binding, commands, frames, interrupts, same_ids
from turnwire.dialects.ag_ui.content import snapshots
from turnwire.dialects.ag_ui.content.progress import Progress
from turnwire.dialects.ag_ui.content.results import HELD_S
from turnwire.dialects.ag_ui.content.transcript import Transcript
from turnwire.dialects.ag_ui.decisions import About
from turnwire.dialects.ag_ui.frames import (
    RunError,
    RunEvent,
    RunFinished,
    Shorthand,
    decode,
    decoder,
)
from turnwire.dialects.ag_ui.interrupts import Answered, Interrupt, Verdict
from turnwire.dialects.ag_ui.verdicts import verdicts_of

NOT_TAKEN: Final = "The agent did not take this prompt: it still waits for an answer"
UNREADABLE_QUESTION: Final = "The agent asks something that cannot be shown"
TOO_LONG: Final = "The agent asks something, but the turn is too long to go on after an answer"

HISTORY_MAX: Final = 524_288
"""Most bytes of the earlier conversation that are kept for a next run."""

_PIECES_MAX: Final = 256
"""Most deltas that are kept before they are noted in the transcript."""

_QUESTION_SHOWN_MAX: Final = 200

_Decoded: TypeAlias = RunEvent | Shorthand | frames.RunStarted | RunFinished | RunError


class _Stage(enum.Enum):
    STARTING = enum.auto()
    """A run of ours was requested, and has not begun."""
    RUNNING = enum.auto()
    ELSEWHERE = enum.auto()
    """The events are those of another run."""
    WAITING = enum.auto()
    """Our run ended with questions. Their answers begin another."""
    OVER = enum.auto()


_STARTING, _RUNNING, _ELSEWHERE, _WAITING, _OVER = _Stage  # an enum's attributes are slow
_OURS, _NONE = AbortScope.OURS, AbortScope.NONE


class TurnProtocol(StopsAtOnce):
    """One turn, without I/O."""

    accepted = True
    queued = False
    has_other_watchers = False

    def __init__(
        self, request: AgentRequest, turn_id: str, run_id: str, sent: Sequence[bytes]
    ) -> None:
        """Make the turn `turn_id`, whose next run is `run_id`. `sent` are the messages for it."""
        self.frame_stats = FrameStats()
        self.deadline = NEVER
        self._turn_id, self._run_id = turn_id, run_id
        self._runs = 1
        self._thread_id = thread_id(request.session_id, request.channel.type, request.channel.id)
        self._own_thread_id = self._thread_id if request.session_id else None
        """The thread that the agent may name; None in a replay, which knows no session."""
        self._sends_history = request.options.sends_history
        self._asks_again = request.options.has_turn_log
        """Whether an answer would reach this turn, so that a question can be asked again."""
        self._stage = _STARTING
        self._has_begun = False
        is_kept = self._sends_history and sum(map(len, sent)) <= HISTORY_MAX
        transcript = Transcript(is_kept=is_kept, sent=sent)
        self._progress = Progress(run_id, self.frame_stats, request.options.state, transcript)
        self._fast_id: str | None = None
        self._pieces: list[str] = []
        """Deltas of the message `_fast_id` that are not in the transcript yet."""
        self._open: dict[str, Interrupt] = {}
        self._answers: dict[str, Answered] = {}

    # The connection.

    def connect_request(self) -> ConnectRequest:
        """Return the request of the next run, with the answers that it begins with."""
        progress, answers = self._progress, self._answers.values()
        verdicts = verdicts_of(answers)
        verdicts.begin_run(progress)
        resume, forwarded_props = interrupts.resume_fields(answers)
        self._answers = {}
        request = commands.run(
            thread_id=self._thread_id,
            run_id=self._run_id,
            sent=progress.transcript.messages(),
            resume=resume,
            forwarded_props=forwarded_props,
        )
        verdicts.were_sent(progress)
        progress.transcript.was_sent()
        return request

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded()

    def connection_lost(self, _now: float) -> Decoded | None:
        if self._stage is _WAITING:
            return Decoded()
        held = self._progress.release()
        return Decoded(held, is_cut=True) if held else None

    @property
    def kept_bytes(self) -> int:
        return self._progress.transcript.kept_bytes

    def forget(self) -> None:
        self._progress.transcript.forget()

    @property
    def abort_scope(self) -> AbortScope:
        return _NONE if self._stage is _WAITING or self._stage is _OVER else _OURS

    def abort(self) -> Sequence[bytes]:
        """Return no frames: to abort is to close the connection."""
        return ()

    def client_detached(self) -> None:
        """Do nothing: a run has no other watchers."""

    def unwatched(self) -> None:
        """Do nothing, as above."""

    def mark_stale(self) -> None:
        """Do nothing: an abort stops our run alone."""

    # The events.

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return snapshots.prepare(raw)

    def receive_frame(self, raw: bytes, now: float) -> Decoded | str | None:
        if raw.startswith(frames.RAW_BEGINNINGS):  # may be most of the bytes: not even checked
            return self._take_raw(raw)
        try:
            frame = decode(raw)
        except msgspec.ValidationError:
            decoder.count_rejected(raw, self.frame_stats)
            self._dropped(raw)
            return None
        except (msgspec.DecodeError, RecursionError):
            recovered = decoder.recover(raw, self.frame_stats)
            if recovered is None:
                self._dropped(raw)
                return None
            frame, raw = recovered
        # Deltas come first, and in this function, because they come by the hundred thousand.
        if type(frame) is frames.TextContent and frame.message_id == self._fast_id:
            self._pieces.append(frame.delta)
            if len(self._pieces) > _PIECES_MAX:
                self._note_pieces()
            return frame.delta or None
        if isinstance(frame, frames.Unparsed):
            return self._take_raw(raw)
        try:
            return self._interpret(frame, raw, now)
        except (RecursionError, msgspec.ValidationError):
            # Nested too deeply, although the event could be decoded, or another type of value.
            self.frame_stats.count_malformed(raw)
            self._dropped(raw)
            return None

    def tick(self, now: float) -> Decoded:
        if now < self.deadline:
            return Decoded()
        self.deadline = NEVER
        held = self._progress.release()
        self._fast_id = self._progress.fast_id if self._stage is _RUNNING else None
        return Decoded(held)

    def reply(self, reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        interrupt = self._open.pop(reply.question_id, None)
        if interrupt is None:
            return Decoded()
        self._take_answer(
            reply,
            is_approval=interrupt.asks_yes_or_no,
            takes_reason=interrupt.takes_reason,
            about=interrupt.about,
            is_decision=interrupt.is_decision,
        )
        closed = QuestionClosed(reply.question_id, answer=reply.answer)
        if self._open:
            return Decoded([closed])
        return self._next_run(closed)

    def _take_answer(
        self,
        reply: QuestionReply,
        *,
        is_approval: bool,
        takes_reason: bool,
        about: Sequence[About],
        is_decision: bool = False,
    ) -> None:
        """Note an answer for the next run. A reason that the agent would refuse is left out."""
        answer = reply.answer
        if is_approval and not takes_reason:
            verdict = interrupts.without_reason(answer)
            if verdict is not None:
                self.frame_stats.count_left_out("reason of an answer", len(answer))
                answer = verdict
        self._answers[reply.question_id] = Answered(
            reply.question_id, answer, is_approval, about, is_decision
        )

    def _dropped(self, raw: bytes) -> None:
        """An event was dropped. If it may be an interrupt, the end of the run is an error."""
        if self._stage is _RUNNING and interrupts.may_be_in(raw):
            self._progress.has_unreadable_interrupt = True

    def _take_raw(self, raw: bytes) -> Decoded | str:
        """Take an event of the framework behind the agent: mostly, it says that it is alive."""
        found = self._progress.take_raw(raw) if self._stage is _RUNNING else ()
        return Decoded(found) if found else ""

    def _note_pieces(self) -> None:
        if self._pieces and self._fast_id is not None:
            self._progress.transcript.text(self._fast_id, "".join(self._pieces))
            self._pieces.clear()

    def _interpret(self, frame: _Decoded, raw: bytes, now: float) -> Decoded | str | None:
        self._note_pieces()
        if isinstance(frame, frames.RunStarted):
            self.frame_stats.protocol_version = commands.named_version(frame.protocol_version)
            return self._run_started(is_ours=self._is_ours(frame))
        if isinstance(frame, RunFinished):
            if self._is_end(is_ours=self._is_ours(frame)):
                return self._run_finished(frame)
        elif isinstance(frame, RunError):
            if self._is_end(is_ours=None):
                return self._failed(frame)
        elif self._stage is _RUNNING:
            return self._take(frame, raw, now)
        self.frame_stats.foreign += 1
        return None

    def _take(self, frame: RunEvent | Shorthand, raw: bytes, now: float) -> Decoded | str | None:
        """What an event of our run tells."""
        new = self._progress.take(frame, raw)
        if not new and getattr(frame, "delta", None) == "":
            return None  # a server sends it to keep the connection, or its model does
        return self._tell(new, now)

    def _tell(self, new: Sequence[Event], now: float) -> Decoded | str:
        self._fast_id = self._progress.fast_id
        self.deadline = min(self.deadline, now + HELD_S) if self._progress.holds_result else NEVER
        if len(new) == 1 and isinstance(new[0], TextDelta):
            return new[0].text
        return Decoded(new) if new else ALIVE

    def _is_ours(self, frame: frames.RunStarted | RunFinished) -> bool | None:
        return binding.is_ours(frame, self._own_thread_id, self._run_id)

    def _run_started(self, *, is_ours: bool | None) -> Decoded | None:
        stage = self._stage
        has_ended = stage is _WAITING or stage is _OVER
        if has_ended or is_ours is False or (stage is _ELSEWHERE and not is_ours):
            self._stage = stage if has_ended else _ELSEWHERE
            self._fast_id = None
            self.frame_stats.foreign += 1
            return None
        if stage is not _RUNNING and not self._has_begun:
            self._has_begun = True
            self._stage = _RUNNING
            return Decoded([TurnStarted(self._turn_id)])
        self._stage = _RUNNING
        return ALIVE

    def _is_end(self, *, is_ours: bool | None) -> bool:
        """Whether the end of a run is that of ours. It need not name the run."""
        stage = self._stage
        if stage is _ELSEWHERE:
            return is_ours is True
        return (stage is _RUNNING or stage is _STARTING) and is_ours is not False

    def _failed(self, error: RunError) -> Decoded:
        """The run failed. Nothing that follows counts, however the body ends."""
        self._progress.usage.run_ended(error.usage)
        self.frame_stats.error_code = safe_json.short_string(error.code)
        text = safe_json.error_message(error.message)
        return self._over(self._finish(is_interrupted=False), Reason.ERROR, text)

    def _run_finished(self, finished: RunFinished) -> Decoded:
        progress = self._progress
        progress.usage.run_ended(finished.usage)
        verdict, found = interrupts.verdict_of(finished.outcome, self.frame_stats)
        spelled_otherwise = progress.interrupts
        if found:
            self.frame_stats.doubled += len(spelled_otherwise)
        elif progress.has_unreadable_interrupt:
            verdict = Verdict.UNREADABLE
        asked = found or spelled_otherwise
        is_asked = bool(asked) and verdict is not Verdict.UNREADABLE
        is_interrupted = is_asked or verdict is Verdict.INTERRUPT or verdict is Verdict.UNREADABLE
        new = [*self._finish(is_interrupted=is_interrupted), *progress.result(finished.result)]
        if is_asked:
            return self._ask(asked, new)
        match verdict:
            case Verdict.SUCCESS:
                return self._over(new, Reason.END_TURN)
            case Verdict.CANCELLED:
                return self._over(new, Reason.CANCELED)
            case Verdict.INTERRUPT | Verdict.UNREADABLE:
                return self._over(new, Reason.ERROR, UNREADABLE_QUESTION)
            case _:
                assert_never(verdict)

    def _finish(self, *, is_interrupted: bool) -> list[Event]:
        """Our run is over. Return what it did not tell yet."""
        self._fast_id, self.deadline = None, NEVER
        return self._progress.finish(is_interrupted=is_interrupted)

    def _over(self, new: Sequence[Event], reason: Reason, error: str | None = None) -> Decoded:
        self._stage = _OVER
        usage = self._progress.usage.total
        return Decoded([*new, TurnFinished(reason=reason, error=error, usage=usage)])

    def _ask(self, asked: Sequence[Interrupt], new: Sequence[Event]) -> Decoded:
        """Our run ended with questions. The next one begins when all of them have an answer."""
        progress, calls = self._progress, self._progress.calls
        apart = same_ids.one_for_each_id(asked, calls)
        if apart is None:
            return self._over(new, Reason.ERROR, UNREADABLE_QUESTION)
        asked = asking.questions_of(apart, calls)
        if not progress.has_worked and all(each.is_of_graph for each in asked):
            if not self._asks_again:
                texts = (each.text[:_QUESTION_SHOWN_MAX] for each in asked if each.text)
                return self._over(new, Reason.ERROR, ": ".join((NOT_TAKEN, *texts)))
            asked = [interrupts.asked_again(each, NOT_TAKEN) for each in asked]
        self._stage = _WAITING
        self._open = {each.question_id: each for each in asked}
        new = [*new, *progress.show_more(asking.sure_ids(asked))]
        as_approvals = asking.are_approvals(asked, calls)
        settled: list[Event] = []
        if as_approvals:  # a client answers approvals only when no other call is open
            about = {each.call_id for each in asked}
            for call_id in calls.open_ids:
                if call_id not in about:
                    settled += calls.settle(call_id)
        described = [calls.described(each.call_id or "") for each in asked]
        questions = [
            interrupts.question(each, call, as_approval=as_approvals)
            for each, call in zip(asked, described, strict=True)
        ]
        return Decoded([*new, *settled, *questions])

    def _next_run(self, closed: QuestionClosed) -> Decoded:
        progress = self._progress
        if self._sends_history and not progress.transcript.is_whole:
            return self._over([closed], Reason.ERROR, TOO_LONG)
        self._runs += 1
        self._run_id = f"{self._turn_id}-{self._runs}"
        progress.next_run(self._run_id)
        self._stage = _STARTING
        return Decoded([closed], connect=self.connect_request())


class PromptProtocol(TurnProtocol):
    """A turn that begins with a prompt."""

    def __init__(self, request: PromptRequest) -> None:
        prompt_id = request.prompt_id
        super().__init__(request, prompt_id, prompt_id, commands.prompt(request))
