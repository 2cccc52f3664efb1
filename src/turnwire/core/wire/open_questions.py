"""The open questions of a session, ours and those of other turns.

A frame that closes a question may name the question alone, and the ids of questions need not be
unique in a session. So a dialect keeps the questions of other turns too, to know when such a frame
may not be about ours. How much a frame names differs by wire: a dialect has a subclass.
"""

from collections.abc import Collection
from typing import Any, ClassVar, Final, Generic, TypeVar

from turnwire.core.bounds import OPEN_QUESTIONS_MAX, keep

Place = TypeVar("Place")
"""What a dialect knows of the turn that asks, such as its channel."""

_NO_QUESTIONS: Final[dict[tuple[str, Any], None]] = {}
"""Shared by all sockets without questions of other turns, which are most of them. Stays empty."""


class OpenQuestions(Generic[Place]):
    """The open questions of a session: ours by id, those of other turns by id and place."""

    __slots__ = ("_elsewhere", "_ours")

    ELSEWHERE_MAX: ClassVar = 256

    def __init__(self) -> None:
        self._ours: dict[str, None] = {}
        self._elsewhere: dict[tuple[str, Place], None] = _NO_QUESTIONS

    def add_ours(self, question_id: str) -> None:
        """Add a question of our turn. The frame that closes it need not name the turn."""
        keep(self._ours, question_id, None, OPEN_QUESTIONS_MAX)

    def add_elsewhere(self, question_id: str, place: Place) -> None:
        """Add a question of another turn."""
        if self._elsewhere is _NO_QUESTIONS:
            self._elsewhere = {}
        keep(self._elsewhere, (question_id, place), None, self.ELSEWHERE_MAX)

    def _close(
        self, question_id: str, elsewhere: Collection[tuple[str, Place]], *, may_be_ours: bool
    ) -> bool:
        """A question is closed. Returns True if it is certainly our question.

        `elsewhere` are the questions of other turns that the frame may mean. If it may mean several
        questions, none of them is closed: otherwise users could see an answer that is not for them.
        """
        is_ours = may_be_ours and question_id in self._ours
        if is_ours + len(elsewhere) != 1:
            return False
        for key in elsewhere:
            del self._elsewhere[key]
        if is_ours:
            del self._ours[question_id]
        return is_ours
