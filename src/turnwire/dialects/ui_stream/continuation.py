"""Continues a turn for a client that answers approvals in a request of its own.

The response that asked is over. Its turn log has its events, if there is one. Otherwise nobody
knows of it: the client's message has the calls that wait, and each answer's id was signed for one
of them. The answers go into that message, and the next response goes on in it.
"""

from collections.abc import Sequence

from msgspec import Raw

from turnwire.core.agent import Decoded
from turnwire.core.approvals import subjects
from turnwire.core.body.conversation import AssistantMessage, Call
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
from turnwire.dialects.ui_stream import commands
from turnwire.dialects.ui_stream.approvals import Answered
from turnwire.dialects.ui_stream.turn import TurnProtocol


class ContinuationProtocol(TurnProtocol):
    """The response that answers begin, for a client that has what was before it."""

    def __init__(self, request: ResumeRequest) -> None:
        """Check the answers, and learn the calls that they are about.

        Raises:
            RejectedError: an answer is to no question that is open.

        """
        waiting, conversation = request.waiting, request.conversation
        pending = () if conversation is None else conversation.pending
        if waiting is None:
            turn_id = request.message_id or ""
            found = [_pending_call(each, turn_id, pending) for each in request.replies]
        else:
            turn_id = _turn_id(waiting)
            open_questions = find_open_questions(waiting)
            found = [_call_of(open_questions.get(each.question_id)) for each in request.replies]
        calls = [each for each in found if each is not None]
        if len(calls) < len(found):
            raise RejectedError(Rejection.CLOSED)
        sent = () if conversation is None else conversation.written
        if not sent:  # the agent keeps the conversation: what it asked is enough
            asked = AssistantMessage(turn_id, (), tuple(calls))
            sent = commands.written(asked)
        super().__init__(request, turn_id, sent, message_id=turn_id or None, has_begun=True)
        for call in (*pending, *calls):
            self._progress.calls.adopt(call)
        for reply, call in zip(request.replies, calls, strict=True):
            self._answer(Answered(reply.question_id, call, reply.answer))
        self._replay: Sequence[Event] = ()
        """What the client has of the turn, as far as the stream must know it."""
        if waiting is None and calls:
            cards = [_running(call) for call in pending]
            self._replay = [ReplayStarted(turn_id), *cards, ReplayFinished()]

    def connection_opened(self, _now: float) -> Decoded:
        replay, self._replay = self._replay, ()
        return Decoded(replay)


def _pending_call(reply: QuestionReply, turn_id: str, pending: Sequence[Call]) -> Call | None:
    """The call that a reply's id was signed for, of those that wait; None if for none."""
    for call in pending:
        approval = Approval(call.call_id, call.name, call.input)
        asked = Question(reply.question_id, Raw(b"{}"), approval)
        if reply.subject is not None and reply.subject in subjects(asked, (turn_id,)):
            return call
    return None


def _call_of(question: Question | None) -> Call | None:
    """The call that an open question is about."""
    if question is None or question.approval is None:
        return None
    approval = question.approval
    return Call(approval.call_id, approval.tool_name, approval.args or Raw(b"{}"))


def _running(call: Call) -> Event:
    """The card of a call that waits, as the client has it."""
    return ToolUpdate(
        call_id=call.call_id, tool_name=call.name, phase=Phase.RUNNING, args=call.input
    )


def _turn_id(waiting: Sequence[Event]) -> str:
    return next((event.turn_id for event in waiting if isinstance(event, TurnStarted)), "")
