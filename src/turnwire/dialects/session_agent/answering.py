"""Answering a question, or an approval, that is open (page 4.4)."""

from collections.abc import Sequence
from typing import Final

from msgspec import Raw

from turnwire.core import harmless
from turnwire.core.dialect import NEVER
from turnwire.core.errand import Answer, Answered
from turnwire.core.refusal import Refusal
from turnwire.dialects.session_agent import answers, wire
from turnwire.dialects.session_agent.errands import Errand
from turnwire.dialects.session_agent.hello import Hello

ASKED_S: Final = 1.0
"""How long after `init` an open question may be told. They follow it directly."""


class Answering(Errand):
    """Answers a question that is open. The agent takes the first answer, and ignores a second."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.result: Answered | Refusal | None = None
        self._question_id = answer.question_id
        self._answer = answer.answer
        self._sent: answers.Answer | None = None

    def left(self) -> None:
        self._refuse(Refusal.SILENT)

    def _greeted(self, _init: wire.Init, _said: Hello, now: float) -> Sequence[bytes]:
        self.deadline = now + ASKED_S
        return ()

    def _late(self, _now: float) -> Sequence[bytes]:
        # What was answered or expired before is forgotten, so it is not known any more.
        self._refuse(Refusal.UNKNOWN if self._sent is None else Refusal.SILENT)
        return ()

    def _heard(self, heard: wire.Read, now: float) -> Sequence[bytes]:
        match heard:
            case wire.Question() | wire.InteractivePrompt():
                return self._open(heard, now)
            case wire.Status(data) if data.question_answered == self._question_id:
                self._closed(wire.given(data.answer))
            case wire.Status(data) if data.question_expired == self._question_id:
                self._refuse(Refusal.CLOSED)
            case wire.Resolved(prompt_id, resolution) if prompt_id == self._question_id:
                value, action = wire.given(resolution.value), wire.given(resolution.action_id)
                self._closed(value if action is None else action)
            case wire.Expired(prompt_id) if prompt_id == self._question_id:
                self._refuse(Refusal.CLOSED)
            case wire.AgentError() if self._sent is not None and _is_reply(heard):
                # It was open a moment ago, so it is not this user's to decide.
                self._refuse(Refusal.UNKNOWN)
            case _:
                pass
        return ()

    def _open(self, asked: answers.Asked, now: float) -> Sequence[bytes]:
        if self._sent is not None or answers.question_id(asked) != self._question_id:
            return ()
        self._sent = answers.answer(asked, self._answer)
        if self._sent is None:
            self._refuse(Refusal.UNSUPPORTED)
            return ()
        return self._tell(self._sent.frame, now)

    def _closed(self, given: Raw | None) -> None:
        """It was answered: by us, or by somebody who was faster."""
        sent = self._sent
        # A failed approval is told as an action of its own.
        if sent is not None and (given is None or answers.plain(given) == sent.taken):
            self.deadline = NEVER
            self.result = Answered()
        else:
            self._refuse(Refusal.CLOSED)

    def _refuse(self, why: Refusal) -> None:
        self.deadline = NEVER
        self.result = why


def _is_reply(error: wire.AgentError) -> bool:
    """Whether it is said to our socket alone, and no turn's."""
    return error.message_id is None and (
        error.prompt_id is not None or harmless.words(error.message) is not None
    )
