"""The rules for answering a question: which user may answer, and whether an approval id is needed.

An approval lets a tool run. So where approvals are signed (`core.approvals`), every
endpoint needs the approval id to answer one. An id is valid only for the
call and the input that were shown with it.
"""

from collections.abc import Collection

from msgspec import Struct

from turnwire.core.approvals import subjects
from turnwire.core.events import Question
from turnwire.core.rejection import Rejection


class Terms(Struct, frozen=True, kw_only=True):
    """The operator's rules. `Terms()` allows every answer; `TURNWIRE_ANSWERS` does not."""

    signed: bool = False
    """An answer to an approval must carry the id that the request had."""
    asker_alone: bool = False
    """Only the user whose prompt started the turn may answer its questions."""

    def admit(self, user_id: str, asker: str | None) -> bool:
        """Whether this user may answer. If `asker` is None (unknown), every user may."""
        return not self.asker_alone or asker in {None, user_id}

    def rejection(
        self, question: Question, subject: bytes | None, turn_ids: Collection[str] = ()
    ) -> Rejection | None:
        """Why an answer to an open question is rejected; None if it is accepted.

        `subject` is the digest that the answer's id was signed for; None if the answer has no
        id. `turn_ids` are the ids under which a client may know the question's turn.
        """
        if subject is None:
            return Rejection.UNSIGNED if self.signed and question.is_approval else None
        return None if subject in subjects(question, turn_ids) else Rejection.CLOSED
