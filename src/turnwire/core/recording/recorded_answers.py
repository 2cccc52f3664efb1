"""The answers that a recorded turn goes on with, and the calls that they are about.

Only of an agent that keeps nothing: it is asked to go on with calls that its client has, and the
frames say neither which calls these are, nor what was answered. The digest that an answer was
signed with is not recorded, since that of a redacted call is another: a replay makes it anew.
"""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Raw, Struct

from turnwire.core.approvals import subject, subjects
from turnwire.core.body.conversation import Call, Conversation
from turnwire.core.events import Approval, Event, Question, TurnStarted
from turnwire.core.recording.redact import Redactor
from turnwire.core.requests import QuestionReply, ResumeRequest


class RecordedCall(Struct, frozen=True, rename="camel"):
    """A call that waits, as the client has it, with the names that a `Redactor` knows."""

    call_id: str
    tool_name: str
    args: Raw

    @property
    def approval(self) -> Approval:
        return Approval(self.call_id, self.tool_name, self.args)


class RecordedReply(Struct, frozen=True, rename="camel", omit_defaults=True):
    question_id: str
    answer: Raw
    call_id: str | None = None
    """The call that it approves or denies; None if it answers another question."""


class RecordedAnswers(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What a request brings that goes on with a turn whose questions it answers."""

    message_id: str
    """The client's message, which has the id of its turn."""
    replies: tuple[RecordedReply, ...]
    pending: tuple[RecordedCall, ...] = ()

    def redacted(self, redactor: Redactor) -> "RecordedAnswers":
        """Return a redacted copy: without inputs and answers."""
        return _decode(redactor.frame(msgspec.json.encode(self)))

    def continue_with(self, request: ResumeRequest) -> ResumeRequest:
        """Return the request with these answers."""
        calls = {call.call_id: call for call in self.pending}
        replies = [
            QuestionReply(
                reply.question_id,
                reply.answer,
                None if (call := calls.get(reply.call_id or "")) is None else self._subject(call),
            )
            for reply in self.replies
        ]
        is_known = all(reply.subject is not None for reply in replies)
        pending = tuple(Call(call.call_id, call.tool_name, call.args) for call in self.pending)
        return msgspec.structs.replace(
            request,
            replies=replies,
            message_id=self.message_id,
            conversation=Conversation((), {}, pending),
            waiting=None if is_known else self._asked(calls),
        )

    def _subject(self, call: RecordedCall) -> bytes:
        return subject(self.message_id, call.approval)

    def _asked(self, calls: Mapping[str, RecordedCall]) -> Sequence[Event]:
        """A turn that asked all that is answered."""
        about = ((reply.question_id, calls.get(reply.call_id or "")) for reply in self.replies)
        asked = (
            Question(question_id, Raw(b"{}"), None if call is None else call.approval)
            for question_id, call in about
        )
        return [TurnStarted(self.message_id), *asked]


_decode = msgspec.json.Decoder(RecordedAnswers).decode


def answers_of(request: ResumeRequest) -> RecordedAnswers | None:
    """Return what a recording keeps of the answers of a request; None if it keeps none."""
    conversation = request.conversation
    if conversation is None or not request.replies:
        return None
    turn_id = request.message_id or ""
    pending = [
        RecordedCall(call.call_id, call.name, _copy(call.input)) for call in conversation.pending
    ]
    replies = [
        RecordedReply(reply.question_id, _copy(reply.answer), _call_id(reply, turn_id, pending))
        for reply in request.replies
    ]
    return RecordedAnswers(turn_id, tuple(replies), tuple(pending))


def _copy(raw: Raw) -> Raw:
    """A value that does not keep the body that it came in."""
    return Raw(bytes(raw))


def _call_id(reply: QuestionReply, turn_id: str, pending: Sequence[RecordedCall]) -> str | None:
    """The call that a reply was signed for."""
    for call in pending:
        question = Question(reply.question_id, Raw(b"{}"), call.approval)
        if reply.subject in subjects(question, (turn_id,)):
            return call.call_id
    return None
