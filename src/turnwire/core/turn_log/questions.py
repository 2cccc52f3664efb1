"""The questions of a turn that runs here, for answers that come beside its stream."""

from collections.abc import Sequence
from typing import Final

from turnwire.core.approvals import expires_at
from turnwire.core.bounds import OPEN_QUESTIONS_MAX, keep
from turnwire.core.events import (
    Event,
    Question,
    QuestionClosed,
    Replied,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.terms import Terms, takes

_CLOSED_MAX: Final = 1_024
"""Most closed questions whose ids are kept: a later answer to one is refused as late."""

_TURN_IDS_MAX: Final = 16


ANSWER_SUFFIX: Final = ":answer"
"""Added to the id of a turn where the client's message has that id."""


class AskedQuestions:
    """Which questions are open, and which were.

    `asker`: the user whose prompt began the turn.
    """

    __slots__ = ("_asker", "_closed", "_open", "_turn_ids")

    def __init__(self, asker: str) -> None:
        self._asker = asker
        self._open: dict[str, Question] = {}
        self._closed: dict[str, None] = {}
        self._turn_ids: dict[str, None] = {}
        """The ids under which a client may know the turn."""

    def take(self, event: Event) -> None:
        """Note what an event opens and closes."""
        if isinstance(event, Question):
            keep(self._open, event.question_id, event, OPEN_QUESTIONS_MAX)
            self._closed.pop(event.question_id, None)
        elif isinstance(event, QuestionClosed | Replied):
            self._close(event.question_id)
        elif isinstance(event, TurnStarted):
            for known_id in (event.turn_id, event.turn_id + ANSWER_SUFFIX):
                keep(self._turn_ids, known_id, None, 2 * _TURN_IDS_MAX)
        elif isinstance(event, TurnFinished):
            for question_id in list(self._open):
                self._close(question_id)

    def open_until(self) -> float | None:
        """Return when the first open question expires, in seconds of the epoch; None: never."""
        times = (expires_at(question) for question in self._open.values())
        return min((time for time in times if time is not None), default=None)

    @property
    def open_ids(self) -> frozenset[str]:
        """The questions that are open."""
        return frozenset(self._open)

    def answer(
        self, replies: Sequence[QuestionReply], user_id: str, terms: Terms
    ) -> Rejection | None:
        """Close the answered questions. Or return why none of these answers is accepted."""
        for reply in replies:
            rejection = self._rejection(reply, user_id, terms)
            if rejection is not None:
                return rejection
        for reply in replies:
            self._close(reply.question_id)
        return None

    def _rejection(self, reply: QuestionReply, user_id: str, terms: Terms) -> Rejection | None:
        question = self._open.get(reply.question_id)
        is_known = question is not None or reply.question_id in self._closed
        if not is_known or not terms.admit(user_id, self._asker or None):
            return Rejection.UNKNOWN
        if question is None:
            return Rejection.CLOSED
        rejection = terms.rejection(question, reply.subject, self._turn_ids)
        if rejection is None and not takes(question, reply.answer):
            return Rejection.NO_VERDICT
        return rejection

    def _close(self, question_id: str) -> None:
        if self._open.pop(question_id, None) is not None:
            keep(self._closed, question_id, None, _CLOSED_MAX)
