"""Answering questions of the running turn, and following the turn from there.

The `init` of R has the turn so far, so the stream continues at once. The `init` of A and V only
says that the turn waits: then the protocol holds back the events after the answers until a
snapshot shows what came before. It then sends the tools from the last calls on, since the
questions belong to those calls. It sends text by its length, since the client's message shows
how much text the client has.

The response headers wait until the agent has accepted the answers. The agent may reject an
answer (only its owner may answer an approval), or another user may have been faster.
"""

import enum
from collections.abc import Sequence
from typing import assert_never

import msgspec
from msgspec import Raw

from turnwire.core import events
from turnwire.core.agent import NEVER, AbortScope, Decoded
from turnwire.core.bounds import KEPT_BYTES_MAX
from turnwire.core.events import Event
from turnwire.core.operations import Answered
from turnwire.core.rejection import Rejection
from turnwire.core.requests import ResumeRequest
from turnwire.core.session_group import Member
from turnwire.dialects.session_agent import frames, init, questions
from turnwire.dialects.session_agent.answer import OPEN_QUESTIONS_S, PendingAnswer
from turnwire.dialects.session_agent.binding.transitions import Stage
from turnwire.dialects.session_agent.deferred_questions import DeferredQuestions
from turnwire.dialects.session_agent.init import DEAD, session_state
from turnwire.dialects.session_agent.resume import ResumeProtocol
from turnwire.dialects.session_agent.snapshots import last_calls
from turnwire.dialects.session_agent.turn import TurnProtocol


class _Step(enum.Enum):
    LOOKING = enum.auto()
    """Looking for the questions. The protocol sends no answer unless all of them are open."""
    ANSWERED = enum.auto()
    """The answers are sent, and the output of the turn before them is unknown yet (A, V)."""
    FOLLOWING = enum.auto()


class ContinuationProtocol(ResumeProtocol):
    """A `ResumeProtocol` that answers questions first.

    It sends no answer unless all of its questions are open.
    """

    def __init__(self, request: ResumeRequest, member: Member) -> None:
        super().__init__(request, member)
        self._step = _Step.LOOKING
        self._answers = {
            reply.question_id: PendingAnswer(reply, request.terms) for reply in request.replies
        }
        self._turn: frames.Snapshot | None = None
        """The turn that `init` has (R)."""
        self._may_abort = False
        """Whether our user sent the prompt of the turn, or the author is unknown; A and V do not
        name the author."""
        self._client_questions: dict[str, events.Question] = {}
        """Questions that the client has. A long payload is dropped, since the client has it
        already."""
        self._deferred = DeferredQuestions()
        """Questions that are new to the client."""

    @property
    def accepted(self) -> bool:
        """Whether the agent accepted every answer."""
        answers = self._answers.values()
        return self._is_found and all(isinstance(answer.result, Answered) for answer in answers)

    @property
    def abort_scope(self) -> AbortScope:
        is_ours = self._may_abort and not self._member.has_other_watchers
        if self._step is _Step.LOOKING or not is_ours:
            return AbortScope.NONE
        return super(ResumeProtocol, self).abort_scope

    def client_detached(self) -> None:
        TurnProtocol.client_detached(self)

    def tick(self, now: float) -> Decoded:
        return _without_final_text(self._translate(super().tick(now)))

    def receive_frame(self, raw: bytes, now: float) -> Decoded | str | None:
        if self._step is not _Step.LOOKING:
            received = super().receive_frame(raw, now)
            return _without_final_text(received) if isinstance(received, Decoded) else received
        decoded = self._receive_early(raw, now)
        self._ahead.drop()  # its entries belong to this frame alone, used or not
        return decoded

    def _receive_early(self, raw: bytes, now: float) -> Decoded | None:
        if self._binding.stage is Stage.OVER:
            return None
        if now >= self._search_until:
            return self._nothing_found()
        frame = frames.decoder.read(raw, self.frame_stats)
        return None if frame is None else self._guarded(self._find_questions, frame, now)

    # Until all questions are open.

    def _find_questions(self, frame: frames.Read, now: float) -> Decoded | None:
        binding = self._binding
        if isinstance(frame, frames.Init):
            return self._init_received(frame, now)
        if binding.stage is Stage.AWAITING_INIT:
            return None
        if isinstance(frame, frames.UserJoined):
            return self._user_joined(frame.user_id)
        if isinstance(frame, frames.Question) and frame.named_channel in {None, binding.channel}:
            # R repeats the question to each socket that connects. R runs one turn, which is that
            # of our channel.
            return self._question_opened(frame, questions.question_event(frame), now)
        if isinstance(frame, frames.InteractivePrompt):
            if questions.channel(frame) == binding.channel:
                return self._question_opened(frame, questions.prompt_event(frame), now)
        elif isinstance(frame, frames.Status) and frame.data.status in DEAD:
            return self._refuse(Rejection.CLOSED)
        return self._check_answers(frame)

    def _init_received(self, frame: frames.Init, now: float) -> Decoded | None:
        binding = self._binding
        if binding.stage is not Stage.AWAITING_INIT:
            return None
        state = session_state(frame)
        binding.init_received(state, follows=True)
        self._search_until = now + OPEN_QUESTIONS_S
        if not state.echo_on_dispatch:
            session = init.session(frame, state, self._ahead)
            self._turn = session.turn
            # An unknown author may follow the turn in another process, which this process cannot
            # see.
            askers = (
                {self._resume_request.user_id}
                if self._member.apart
                else {None, self._resume_request.user_id}
            )
            self._may_abort = session.asker in askers
            if session.turn is None or session.turn.channel != binding.channel:
                return self._refuse(Rejection.CLOSED)
            if not self._resume_request.terms.admit(self._resume_request.user_id, session.asker):
                return self._refuse(Rejection.CLOSED)
        return self._refuse(Rejection.CLOSED) if state.is_dead else None

    def _question_opened(
        self, frame: questions.QuestionFrame, question: events.Question, now: float
    ) -> Decoded | None:
        self._progress.question_asked(question, now)
        answer = self._answers.get(question.question_id)
        if answer is None:
            self._deferred.add(question)
            return None
        if len(question.payload) > KEPT_BYTES_MAX:
            question = msgspec.structs.replace(question, payload=Raw(b"{}"))
        self._client_questions[question.question_id] = question
        answer.question_opened(frame)
        if isinstance(answer.result, Rejection):
            return self._refuse(answer.result)
        replies = [answer.frame for answer in self._answers.values() if answer.frame is not None]
        return self._send_answers(replies, now) if len(replies) == len(self._answers) else None

    def _send_answers(self, replies: Sequence[bytes], now: float) -> Decoded:
        started: Sequence[Event] = ()
        if self._turn is None:
            self._step = _Step.ANSWERED
            self._work_found()
            self._may_be_unnamed = True
        else:
            self._follow_turn(self._turn.id)
            replayed, has_text = self._merge(self._turn, now, whole=False)
            if not has_text:  # unknown how much of the text the client has
                return self._refuse(Rejection.UNSUPPORTED)
            started = self._replay(self._turn.id, replayed, last_calls(self._turn))
            self._turn = None  # free it: the stream may last for hours
        self._search_until = now + self._resume_request.init_s
        return Decoded(started, replies)

    # After the answers are sent.

    def _mark_found(self) -> None:
        self._is_found = True

    def _follow_turn(self, turn_id: str) -> Sequence[Event]:
        super()._follow_turn(turn_id)
        return ()  # `_replay` sends the start of the turn

    def _interpret(self, frame: frames.Read, now: float) -> Decoded | None:
        decoded = super()._interpret(frame, now)
        return self._check_answers(frame) or (None if decoded is None else self._translate(decoded))

    def _check_answers(self, frame: frames.Read) -> Decoded | None:
        """Check the answers until the agent has accepted all of them, or one is rejected."""
        if self.accepted:
            return None
        for answer in self._answers.values():
            answer.receive_frame(frame)
            if isinstance(answer.result, Rejection):
                return self._refuse(answer.result)
        if self.accepted:
            self._search_until = NEVER
        return None

    def _snapshot_received(self, snapshot: frames.Snapshot, now: float) -> Sequence[Event]:
        decoded = super()._snapshot_received(snapshot, now)
        if self._step is _Step.ANSWERED:
            decoded = self._replay(snapshot.id, decoded, last_calls(snapshot))
        # Everything after this snapshot is new to the client, even if the text of the snapshot does
        # not match its content.
        return [*decoded, events.ReplayFinished()]

    def _translate(self, decoded: Decoded) -> Decoded:
        translated = [new for event in decoded.events for new in self._translate_event(event)]
        return msgspec.structs.replace(decoded, events=translated)

    def _translate_event(self, event: Event) -> Sequence[Event]:
        is_waiting = self._step is _Step.ANSWERED
        match event:
            case events.Question() | events.QuestionClosed() if is_waiting:
                self._deferred.add(event)
                return ()
            case events.TurnStarted(turn_id):  # starts again: none of it is known
                return [
                    *(self._replay(turn_id) if is_waiting else [event]),
                    events.ReplayFinished(),
                ]
            case events.TurnFinished() if is_waiting:
                return [*self._replay(""), event]
            case (
                events.TextDelta()
                | events.ReplayStarted()
                | events.ReplayUncertain()
                | events.ReplayFinished()
                | events.ReasoningDelta()
                | events.TextBreak()
                | events.TextSwitch()
                | events.StepStarted()
                | events.PartsRetracted()
                | events.ToolInputDelta()
                | events.ToolUpdate()
                | events.FilePart()
                | events.SourceUrl()
                | events.DataPart()
                | events.AgentStatus()
                | events.Question()
                | events.Replied()
                | events.QuestionClosed()
                | events.TurnFinished()
                | events.Queued()
            ):
                return [event]
            case _:
                assert_never(event)

    def _replay(
        self, turn_id: str, decoded: Sequence[Event] = (), last: frozenset[str] = frozenset()
    ) -> list[Event]:
        """Return the turn so far: first what the client has, then what it may lack.

        `last` are the ids of the last calls, which the questions belong to.
        """
        self._step = _Step.FOLLOWING
        completed, tools, rest = list[Event](), list[Event](), list[Event]()
        for event in decoded:
            if not isinstance(event, events.ToolUpdate):
                rest.append(event)
            elif event.call_id in last or not event.phase.is_over:
                tools.append(event)
            else:
                completed.append(event)
        started = events.ReplayStarted(turn_id)
        client_questions: list[Event] = []
        for question_id, question in self._client_questions.items():
            client_questions += [question, events.Replied(question_id)]
        deferred = self._deferred.take()
        # Tools come before text, so that missing text does not separate a question from its tool.
        return [
            started,
            *completed,
            *client_questions,
            events.ReplayUncertain(),
            *tools,
            *deferred,
            *rest,
        ]

    def _nothing_found(self) -> Decoded:
        """The agent sent nothing about the session, the questions or the answers in time."""
        is_looking = self._binding.stage is Stage.LOOKING
        return self._refuse(Rejection.CLOSED if is_looking else Rejection.SILENT)

    def _refuse(self, rejection: Rejection) -> Decoded:
        self._binding.end()
        self._search_until = NEVER
        return Decoded(rejection=rejection)


def _without_final_text(decoded: Decoded) -> Decoded:
    """Drop `final_text`: it was streamed, or is compared with the snapshot."""
    if not any(isinstance(event, events.TurnFinished) for event in decoded.events):
        return decoded
    kept = [
        msgspec.structs.replace(event, final_text=None)
        if isinstance(event, events.TurnFinished)
        else event
        for event in decoded.events
    ]
    return msgspec.structs.replace(decoded, events=kept)
