"""Continues a turn for a client that answers approvals in a request of its own.

The run that asked is over. Its turn log has its events, if there is one. Otherwise nobody knows of
it: the client's message has the calls that wait, and each answer's id was signed for one of them.
The next run begins with the answers, and goes on in the client's message.
"""

import hashlib
from collections.abc import Sequence

import msgspec
from msgspec import Raw

from turnwire.core.agent import Decoded
from turnwire.core.approvals import subjects
from turnwire.core.body.conversation import Call
from turnwire.core.events import (
    Approval,
    Event,
    Phase,
    Question,
    ReplayFinished,
    ReplayStarted,
    ToolUpdate,
    TurnStarted,
    find_open_questions,
)
from turnwire.core.rejection import RejectedError, Rejection
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.dialects.ag_ui.interrupts import Answered
from turnwire.dialects.ag_ui.turn import TurnProtocol


class ContinuationProtocol(TurnProtocol):
    """The run that answers begin, for a client that has what was before it."""

    def __init__(self, request: ResumeRequest) -> None:
        """Check the answers, and learn the calls of the runs before.

        Raises:
            RejectedError: an answer is to no question that is open.

        """
        waiting, conversation = request.waiting, request.conversation
        pending = () if conversation is None else conversation.pending
        if waiting is None:
            turn_id = request.message_id or ""
            asked = [_pending_question(each, turn_id, pending) for each in request.replies]
        else:
            turn_id = _turn_id(waiting)
            open_questions = find_open_questions(waiting)
            asked = [open_questions.get(each.question_id) for each in request.replies]
        questions = [each for each in asked if each is not None]
        if len(questions) < len(asked):
            raise RejectedError(Rejection.CLOSED)
        sent = () if conversation is None else conversation.written
        super().__init__(request, turn_id, _run_id(turn_id, request.replies), sent)
        self._has_begun = True
        self._learn_calls(pending, waiting or ())
        for reply, question in zip(request.replies, questions, strict=True):
            self._answers[reply.question_id] = Answered(
                reply.question_id, reply.answer, is_approval=question.is_approval
            )
        self._replay: Sequence[Event] = ()
        """What the client has of the turn, as far as the stream must know it."""
        if waiting is None and questions:
            calls = [_running(call) for call in pending]
            self._replay = [ReplayStarted(turn_id), *calls, ReplayFinished()]

    def connection_opened(self, _now: float) -> Decoded:
        replay, self._replay = self._replay, ()
        return Decoded(replay)

    def _learn_calls(self, pending: Sequence[Call], waiting: Sequence[Event]) -> None:
        """Know the calls of earlier runs: the next run has their results, and may repeat them."""
        calls = self._progress.calls
        for call in pending:
            calls.adopt(call.call_id, call.name, call.input)
            self._progress.transcript.adopt(call.call_id, call.name, call.input)
        for event in waiting:
            if isinstance(event, ToolUpdate):
                calls.follow(event)
        calls.next_run()


def _pending_question(
    reply: QuestionReply, turn_id: str, pending: Sequence[Call]
) -> Question | None:
    """The approval that a reply's id was signed for, of the calls that wait; None if of none."""
    for call in pending:
        approval = Approval(call.call_id, call.name, call.input)
        question = Question(reply.question_id, Raw(b"{}"), approval)
        if reply.subject is not None and reply.subject in subjects(question, (turn_id,)):
            return question
    return None


def _running(call: Call) -> Event:
    """The card of a call that waits, as the client has it."""
    return ToolUpdate(
        call_id=call.call_id, tool_name=call.name, phase=Phase.RUNNING, args=call.input
    )


def _turn_id(waiting: Sequence[Event]) -> str:
    return next((event.turn_id for event in waiting if isinstance(event, TurnStarted)), "")


def _run_id(turn_id: str, replies: Sequence[QuestionReply]) -> str:
    """The id of the run that these replies begin: the same if they are sent again."""
    names = [[reply.question_id, bytes(reply.answer).decode()] for reply in replies]
    digest = hashlib.sha256(msgspec.json.encode([turn_id, names])).hexdigest()
    return f"{turn_id}-{digest[:16]}"
