"""Answering a question, or an approval, that is open (page 4.4)."""

from collections.abc import Sequence
from typing import Final

from turnwire.core.dialect import NEVER, Reply
from turnwire.core.errand import Answer, Answered
from turnwire.core.refusal import Refusal
from turnwire.dialects.session_agent import hydration, wire
from turnwire.dialects.session_agent.errands import Errand
from turnwire.dialects.session_agent.given import Given
from turnwire.dialects.session_agent.hello import Hello

ASKED_S: Final = 1.0
"""How long after `init` an open question may be told. They follow it directly."""


class Answering(Errand):
    """Answers a question that is open, and waits for the agent's word."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self._answer = answer
        reply = Reply(answer.question_id, answer.answer, answer.subject)
        self._given = Given(reply, answer.terms)

    @property
    def result(self) -> Answered | Refusal | None:
        return self._given.result

    def left(self) -> None:
        self._refuse(Refusal.SILENT)

    def _greeted(self, init: wire.Init, said: Hello, now: float) -> Sequence[bytes]:
        self.deadline = now + ASKED_S
        asker = None if said.defers else hydration.session(init, said, self._ahead).asker
        if not self._answer.terms.admit(self._answer.user_id, asker):
            self._refuse(Refusal.UNKNOWN)
        return ()

    def _late(self, _now: float) -> Sequence[bytes]:
        # What was answered or expired before is forgotten, so it is not known any more.
        self._refuse(Refusal.UNKNOWN if self._given.frame is None else Refusal.SILENT)
        return ()

    def _heard(self, heard: wire.Read, now: float) -> Sequence[bytes]:
        given = self._given
        if not isinstance(heard, wire.Question | wire.InteractivePrompt):
            given.heard(heard)
        elif (frame := given.opened(heard)) is not None:
            return self._tell(frame, now)
        if given.result is not None:
            self.deadline = NEVER
        return ()

    def _refuse(self, why: Refusal) -> None:
        self.deadline = NEVER
        self._given.result = why
