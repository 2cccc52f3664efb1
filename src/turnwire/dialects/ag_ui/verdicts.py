"""What the answers of a user allow and deny, call by call.

The next run gets each answer. But a run may tell no outcome of a call that was denied, and ask
again: then `Transcript` has to know of the denial. Where it is not sure which call a question is
about, a no is one to each that it may be about, and a yes lifts no denial. Nor does any answer to a
question that does not ask whether a call may run.
"""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from turnwire.dialects.ag_ui import decisions
from turnwire.dialects.ag_ui.content.progress import Progress
from turnwire.dialects.ag_ui.interrupts import Answered


class Verdicts(Struct, frozen=True):
    """The ids of calls, by what all answers of a run say of them."""

    denied: Collection[str]
    """The calls that got a no, also where another answer is a yes."""
    asked_again: Collection[str]
    """The calls whose earlier denial does not count any more: the answers decide anew."""

    def begin_run(self, progress: Progress) -> None:
        """The agent is sent these verdicts next, as answers, and the conversation."""
        progress.calls.ask_again(self.asked_again)
        progress.transcript.ask_again(self.asked_again)

    def were_sent(self, progress: Progress) -> None:
        progress.calls.deny(self.denied)
        progress.transcript.deny(self.denied)


_NONE: Final = Verdicts((), ())


def verdicts_of(answers: Collection[Answered]) -> Verdicts:
    if not answers:  # as of each first run
        return _NONE
    denied: dict[str, None] = {}
    sure: dict[bool, set[str]] = {False: set(), True: set()}
    for each in answers:
        for about, is_allowed in zip(each.about, _allowed(each), strict=True):
            if is_allowed is False:
                denied |= dict.fromkeys(about.call_ids)
            if is_allowed is not None and about.is_sure and each.decides:
                sure[is_allowed].update(about.call_ids)
    return Verdicts(denied.keys(), (sure[True] - denied.keys()) | (sure[False] - sure[True]))


def _allowed(answered: Answered) -> Sequence[bool | None]:
    """Whether an answer allows each call of its question; None: it is neither a yes nor a no."""
    count = len(answered.about)
    if answered.is_approval:
        return decisions.allowed(answered.question_id, answered.answer, count)
    listed = None if answered.is_decision else decisions.listed(answered.answer, count)
    if listed is not None:
        return listed
    return [decisions.in_other_fields(answered.answer, is_asked=answered.is_decision)] * count
