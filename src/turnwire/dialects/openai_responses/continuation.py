"""Continues a turn for a client that answers approvals in a request of its own.

The response that asked is over (`core.answered_questions`). The next one begins with the answers,
and goes on in the client's message.
"""

from collections.abc import Sequence

from msgspec import Raw

from turnwire.core.agent import Decoded
from turnwire.core.answered_questions import AnsweredQuestions, find_answered
from turnwire.core.events import Event
from turnwire.core.requests import ResumeRequest
from turnwire.dialects.openai_responses import approvals, messages
from turnwire.dialects.openai_responses.turn import TurnProtocol


class ContinuationProtocol(TurnProtocol):
    """The response that answers begin, for a client that has what was before it."""

    def __init__(self, request: ResumeRequest) -> None:
        """Check the answers, and learn the calls that waited.

        Raises:
            RejectedError: an answer is to no question that is open, or the client's message has
                another call at its card than the one that was shown.

        """
        answered = find_answered(request)
        super().__init__(request, answered.turn_id, _sent(request, answered))
        self._has_begun = True
        self._new: list[Event] = []
        self._replay = answered.replay
        for reply, question in zip(request.replies, answered.questions, strict=True):
            self._answers.append((reply.question_id, reply.answer))
            if self._options.names_previous_response:
                self._previous = approvals.response_id_in(reply.question_id)
            approval = question.approval
            if approval is None:
                continue
            self._progress.calls.adopt(approval.call_id, approval.tool_name)
            if not approvals.is_yes(reply.answer):
                self._new += self._progress.calls.outcome(approval.call_id, error=approvals.DENIED)
        self._progress.calls.next_response()

    def connection_opened(self, _now: float) -> Decoded:
        replay: Sequence[Event] = (*self._replay, *self._new)
        self._replay, self._new = (), []
        return Decoded(replay)


def _sent(request: ResumeRequest, answered: AnsweredQuestions) -> list[bytes]:
    """The conversation, with the items that asked in place of the calls that waited."""
    if request.conversation is None or not request.options.sends_history:
        return []
    asked = {
        approval.call_id
        for approval in (question.approval for question in answered.questions)
        if approval is not None
    }
    sent = [
        item
        for item in request.conversation.written
        if not any(messages.is_call_of(item, call_id) for call_id in asked)
    ]
    for question in answered.questions:
        if question.approval is not None:
            approval = question.approval
            sent.append(
                approvals.asking_item(
                    question.question_id, approval.tool_name, approval.args or Raw(b"{}")
                )
            )
    return sent
