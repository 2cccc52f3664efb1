"""The rules for answering a question: which user may answer, and whether an approval id is needed.

An approval lets a tool run. So where approvals are signed (`core.approvals`), every
endpoint needs the approval id to answer one. An id is valid only for the
call and the input that were shown with it.

An approval is answered with a yes or a no. An agent may read more out of an answer, as other
arguments for the call (`editedArgs`). These would run though nobody was shown them, so such an
answer is refused before the agent has it.
"""

from collections.abc import Collection
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.approvals import subjects
from turnwire.core.bounds import HandedOn
from turnwire.core.events import Question
from turnwire.core.rejection import Rejection
from turnwire.core.wire import lenient

_BARE: Final = frozenset({b"true", b"false"})


class _Verdict(Struct, frozen=True, forbid_unknown_fields=True):
    approved: bool
    reason: HandedOn | None = None


class _Offering(Struct, frozen=True):
    options: Raw = Raw()


_decode_verdict = msgspec.json.Decoder(_Verdict).decode
_decode_offering = msgspec.json.Decoder(_Offering).decode


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


def takes(question: Question, answer: Raw) -> bool:
    """Whether a question takes this answer. One that is no approval takes any.

    An approval that was shown with options may be answered by one of them, which its wire reads.
    """
    if not question.is_approval or bytes(answer) in _BARE:
        return True
    if lenient.field(_decode_verdict, answer) is not None:
        return True
    offering = lenient.field(_decode_offering, question.payload)
    return offering is not None and bool(offering.options)
