"""Which questions the answers of a client are to, where the request that asked is over.

The turn log has the events of the turn that waits, if there is one. Otherwise nobody knows of it:
the client's message has the calls that wait, and each answer's id was signed for one of them.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw, Struct

from turnwire.core.approvals import subject, subjects
from turnwire.core.body.conversation import Call, Conversation
from turnwire.core.body.ui_message import NO_RESULT
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
from turnwire.core.terms import takes


class AnsweredQuestions(Struct, frozen=True):
    """The turn that waits, and the question of each reply, in the order of the replies."""

    turn_id: str
    questions: Sequence[Question]
    pending: Sequence[Call]
    """The calls that wait, as the client has them."""
    replay: Sequence[Event]
    """What the client has of the turn, as far as the stream must know it."""


def find_answered(request: ResumeRequest) -> AnsweredQuestions:
    """Find the questions that the replies of a request are to.

    Raises:
        RejectedError: an answer is to no question that is open, or the client's message has another
            call at its card than the one that was shown, or an approval is answered with more than
            a yes or a no.

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
    if len(questions) < len(asked) or not _are_about(questions, pending):
        raise RejectedError(Rejection.CLOSED)
    # In a replay, which knows no session, an answer may be redacted.
    is_live = bool(request.session_id)
    if is_live and not all(map(takes, questions, (each.answer for each in request.replies))):
        raise RejectedError(Rejection.NO_VERDICT)
    replay: Sequence[Event] = ()
    if waiting is None and questions:
        others = () if conversation is None else cards(conversation)
        waiting = [_card(each, Phase.RUNNING) for each in pending]
        replay = [ReplayStarted(turn_id), *waiting, *others, ReplayFinished()]
    return AnsweredQuestions(turn_id, questions, pending, replay)


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


def _are_about(questions: Sequence[Question], pending: Sequence[Call]) -> bool:
    """Whether each call that waits is one of these approvals, with the input that was shown.

    The agent is sent the calls as the client has them, and would run what they say.
    """
    shown = {
        approval.call_id: subject("", approval)
        for approval in (question.approval for question in questions)
        if approval is not None
    }
    return all(
        shown.get(call.call_id) == subject("", Approval(call.call_id, call.name, call.input))
        for call in pending
    )


def cards(conversation: Conversation) -> Iterator[ToolUpdate]:
    """The cards of the calls that do not wait, as the client has them.

    If there are several calls of one id, the last of them is the one that may have no outcome yet.
    """
    settled: set[str] = set()
    for call in conversation.settled:
        if call.call_id in settled:
            yield _card(call, Phase.PENDING)
        settled.add(call.call_id)
        yield _card(call, Phase.COMPLETED)
    for each in conversation.unresolved:
        if each.call.call_id in settled:
            settled.remove(each.call.call_id)
            yield _card(each.call, Phase.PENDING)
        yield msgspec.structs.replace(
            _card(each.call, Phase.ERROR), error=NO_RESULT, preliminary=True
        )


def _card(call: Call, phase: Phase) -> ToolUpdate:
    return ToolUpdate(call_id=call.call_id, tool_name=call.name, phase=phase, args=call.input)


def _turn_id(waiting: Sequence[Event]) -> str:
    return next((event.turn_id for event in waiting if isinstance(event, TurnStarted)), "")
