"""An answer on its way: its question is told as open, then the agent says what became of it."""

from msgspec import Raw

from turnwire.core import harmless
from turnwire.core.dialect import Reply
from turnwire.core.errand import Answered
from turnwire.core.refusal import Refusal
from turnwire.core.terms import Terms
from turnwire.dialects.session_agent import answers, asking, wire
from turnwire.dialects.session_agent.channel import Channel


class Given:
    """One answer. The agent takes the first one to a question, and ignores a second."""

    def __init__(self, reply: Reply, terms: Terms) -> None:
        self.result: Answered | Refusal | None = None
        """What became of it; None while it is under way."""
        self._question_id = reply.question_id
        self._answer = reply.answer
        self._subject = reply.subject
        self._terms = terms
        self._sent: answers.Answer | None = None
        self._channel: Channel | None = None
        """Where the question was told as open."""

    @property
    def frame(self) -> bytes | None:
        """What answers it, once it was told as open."""
        return None if self._sent is None else self._sent.frame

    def opened(self, asked: answers.Asked) -> bytes | None:
        """This question is open. Returns what answers it, where it is ours and was not told yet."""
        if self._sent is not None or answers.question_id(asked) != self._question_id:
            return None
        self.result = self._terms.refusal(asking.told(asked), self._subject)
        if self.result is not None:
            return None
        self._sent = answers.answer(asked, self._answer)
        self._channel = answers.channel(asked)
        if self._sent is None:
            self.result = Refusal.UNSUPPORTED
        return self.frame

    def heard(self, heard: wire.Read) -> None:
        """Whether this frame says what became of it."""
        if self.result is not None:
            return
        match heard:
            case wire.Status(data) if self._is_it(data.question_answered, data.named):
                self._closed(wire.given(data.answer))
            case wire.Status(data) if self._is_it(data.question_expired, data.named):
                self.result = Refusal.CLOSED
            case wire.Resolved(resolution=resolution) if self._is_it(heard.prompt_id, heard.named):
                value, action = wire.given(resolution.value), wire.given(resolution.action_id)
                self._closed(value if action is None else action)
            case wire.Expired() if self._is_it(heard.prompt_id, asking.closed_on(heard)):
                self.result = Refusal.CLOSED
            case wire.AgentError() if self._sent is not None and _is_reply(heard):
                # It was open a moment ago, so it is not this user's to decide.
                self.result = Refusal.UNKNOWN
            case _:
                pass

    def _is_it(self, question_id: str | None, named: Channel | None) -> bool:
        """Whether our question is meant, by its id and by the channel where one is named."""
        is_here = named is None or self._channel in {None, named}
        return is_here and question_id == self._question_id

    def _closed(self, given: Raw | None) -> None:
        """It was answered: by us, or by somebody who was faster."""
        sent = self._sent
        # A failed approval is told as an action of its own.
        is_ours = sent is not None and (given is None or answers.plain(given) == sent.taken)
        self.result = Answered() if is_ours else Refusal.CLOSED


def _is_reply(error: wire.AgentError) -> bool:
    """Whether it is said to our socket alone, and no turn's."""
    return error.message_id is None and (
        error.prompt_id is not None or harmless.words(error.message) is not None
    )
