"""On which terms a question is answered: by whom, and with what.

An approval lets a tool run. So where approvals are signed (`core.approval`) it
takes no answer without its id, by whichever door that comes, and an id is good
for what was shown with it alone.
"""

from collections.abc import Collection

from msgspec import Struct

from turnwire.core.approval import subjects
from turnwire.core.events import Question
from turnwire.core.refusal import Refusal


class Terms(Struct, frozen=True, kw_only=True):
    """The operator's. As they are here they ask for nothing."""

    signed: bool = False
    """An approval is answered with the id that it was asked with."""
    asker_alone: bool = False
    """A question is answered by the user whose prompt asked for its turn."""

    def admit(self, user_id: str, asker: str | None) -> bool:
        """Whether this user may answer. An `asker` of None is not known: then everybody may."""
        return not self.asker_alone or asker in {None, user_id}

    def refusal(
        self, question: Question, subject: bytes | None, turn_ids: Collection[str] = ()
    ) -> Refusal | None:
        """Why an open question takes no answer that was signed for this; None: it does.

        `subject` is None of an answer that was not signed; `turn_ids` are those that a
        client may know the question's turn by.
        """
        if subject is None:
            return Refusal.UNSIGNED if self.signed and question.is_approval else None
        return None if subject in subjects(question, turn_ids) else Refusal.CLOSED
