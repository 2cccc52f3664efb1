"""Answering an open question or approval (page 4.4).

The agent reports the question as open, we send the answer, and the agent reports the result.
`PendingAnswer` is the state of one answer. `AnswerOperation` sends one answer over a connection
of its own; `continuation` sends the replies of a stream.

Pages are sections of docs/wire/session-agent.md.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.agent import NEVER
from turnwire.core.operations import Answered
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest, Channel, QuestionReply
from turnwire.core.terms import Terms
from turnwire.dialects.session_agent import frames, init, questions
from turnwire.dialects.session_agent.init import SessionState
from turnwire.dialects.session_agent.operation import Operation

OPEN_QUESTIONS_S: Final = 1.0
"""How long after `init` the agent may report an open question, in seconds. Such frames follow
`init` directly."""


class PendingAnswer:
    """One answer. The agent accepts the first answer to a question and ignores a second one."""

    def __init__(self, reply: QuestionReply, terms: Terms) -> None:
        self.result: Answered | Rejection | None = None
        """The result; None while the answer is pending."""
        self._question_id = reply.question_id
        self._answer = reply.answer
        self._subject = reply.subject
        self._terms = terms
        self._sent_answer: questions.Answer | None = None
        self._channel: Channel | None = None
        """The channel of the question, once the agent reported it as open."""

    @property
    def frame(self) -> bytes | None:
        """The frame that carries the answer; None until the agent reported the question as open."""
        return None if self._sent_answer is None else self._sent_answer.frame

    def question_opened(self, question: questions.QuestionFrame) -> bytes | None:
        """Handle an open question. Return our answer if the question is ours and is unanswered."""
        if self._sent_answer is not None or questions.question_id(question) != self._question_id:
            return None
        self.result = self._terms.rejection(questions.to_event(question), self._subject)
        if self.result is not None:
            return None
        self._sent_answer = questions.answer(question, self._answer)
        self._channel = questions.channel(question)
        if self._sent_answer is None:
            self.result = Rejection.UNSUPPORTED
        return self.frame

    def receive_frame(self, frame: frames.Read) -> None:
        """Set `result` if the frame reports what happened to the question."""
        if self.result is not None or not isinstance(frame, frames.QuestionVerdict):
            return
        match frame:
            case frames.Status(data) if self._is_our_question(
                data.question_answered, data.named_channel
            ):
                self._question_answered(frames.non_null(data.answer))
            case frames.Status(data) if self._is_our_question(
                data.question_expired, data.named_channel
            ):
                self.result = Rejection.CLOSED
            case frames.Resolved(resolution=resolution) if self._is_our_question(
                frame.prompt_id, frame.named_channel
            ):
                value, action_id = (
                    frames.non_null(resolution.value),
                    frames.non_null(resolution.action_id),
                )
                self._question_answered(value if action_id is None else action_id)
            case frames.Expired() if self._is_our_question(
                frame.prompt_id, questions.expired_channel(frame)
            ):
                self.result = Rejection.CLOSED
            case frames.AgentError() if self._sent_answer is not None and _is_reply(frame):
                # The question was open a moment ago, so this user may not decide it.
                self.result = Rejection.UNKNOWN
            case frames.Status() | frames.Resolved() | frames.Expired() | frames.AgentError():
                pass
            case _:
                assert_never(frame)

    def _is_our_question(self, question_id: str | None, named_channel: Channel | None) -> bool:
        """Whether our question is meant: by its id, and by its channel if the frame names one."""
        is_same_channel = named_channel is None or self._channel in {None, named_channel}
        return is_same_channel and question_id == self._question_id

    def _question_answered(self, value: Raw | None) -> None:
        """The question was answered: by us, or by another user who was faster."""
        sent = self._sent_answer
        # The agent reports a failed approval with an action of its own.
        is_ours = sent is not None and (
            value is None or questions.plain(value) == sent.confirmed_value
        )
        self.result = Answered() if is_ours else Rejection.CLOSED


class AnswerOperation(Operation):
    """Answers an open question, and waits until the agent confirms it."""

    def __init__(self, request: AnswerRequest) -> None:
        super().__init__(request)
        self._request = request
        self._pending = PendingAnswer(request.reply, request.terms)

    @property
    def result(self) -> Answered | Rejection | None:
        return self._pending.result

    def connection_lost(self) -> None:
        self._refuse(Rejection.SILENT)

    def _init_received(
        self, frame: frames.Init, state: SessionState, now: float
    ) -> Sequence[bytes]:
        self.deadline = now + OPEN_QUESTIONS_S
        asker = None if state.echo_on_dispatch else init.session(frame, state, self._ahead).asker
        if not self._request.terms.admit(self._request.user_id, asker):
            self._refuse(Rejection.UNKNOWN)
        return ()

    def _reply_missing(self, _now: float) -> Sequence[bytes]:
        # The agent forgets questions that were answered or expired, so the id is unknown.
        self._refuse(Rejection.UNKNOWN if self._pending.frame is None else Rejection.SILENT)
        return ()

    def _frame_received(self, frame: frames.Read, now: float) -> Sequence[bytes]:
        pending = self._pending
        if not isinstance(frame, frames.Question | frames.InteractivePrompt):
            pending.receive_frame(frame)
        elif (answer := pending.question_opened(frame)) is not None:
            return self._send_and_wait([answer], now)
        if pending.result is not None:
            self.deadline = NEVER
        return ()

    def _refuse(self, rejection: Rejection) -> None:
        self.deadline = NEVER
        self._pending.result = rejection


def _is_reply(error: frames.AgentError) -> bool:
    """Whether the error is a reply to our socket alone, and not an error of a turn."""
    return error.message_id is None and (
        error.prompt_id is not None or safe_json.error_message(error.message) is not None
    )
