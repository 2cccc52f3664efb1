"""Answering questions of the turn that runs, and following it from there.

What was told up to the last of them the client has, and of what the agent told
since as much as its message says; the rest comes first. The turn is ours from
then on, unless another user asked for it or another stream follows it: a client
that hangs up means it.
"""

from collections.abc import Iterator, Sequence

from turnwire.core import events
from turnwire.core.dialect import Reach
from turnwire.core.events import Event, Question
from turnwire.core.questions import left_open
from turnwire.core.refusal import Refusal
from turnwire.dialects.v2 import hydration, outgoing
from turnwire.dialects.v2.resuming import Resuming


class Continuing(Resuming):
    """A `Resuming` with replies: all of its questions must be open, or none is answered."""

    @property
    def reach(self) -> Reach:
        # Who asked may follow it in another process, where nobody hears of that.
        mine = {self._look.user_id} if self._seat.apart else {None, self._look.user_id}
        elses = self._asker not in mine or self._seat.accompanied
        return Reach.OURS if self._whose.is_running and not elses else Reach.NOTHING

    def abort(self) -> Sequence[bytes]:
        turn_id = self._whose.turn_id
        if turn_id is None or self.reach is not Reach.OURS:
            return ()
        return [outgoing.stop(self.channel, turn_id, self._prompt_id)]

    def unattended(self) -> None:
        self._seat.unattended(self._look.user_id)

    def _unseen(self) -> Refusal:
        """No hydration came: whether the question is open, and what followed it, is not known."""
        return Refusal.UNSUPPORTED

    def _idle(self, _waiting: hydration.Entry | None) -> Refusal:
        return Refusal.CLOSED

    def _found(self, running: hydration.Entry) -> Sequence[Event] | Refusal:
        told = list(self._noted(hydration.told(running)))
        # A stream that was resumed knows the turn by the id that its message has.
        turn_ids = {running.id, self._message_id(running.id)}
        if not self._look.terms.admit(self._look.user_id, self._asker):
            return Refusal.CLOSED
        waiting = left_open(told)
        for reply in self._look.replies:
            asked = waiting.get(reply.question_id)
            if asked is None:
                return Refusal.CLOSED
            why = self._look.terms.refusal(asked, reply.subject, turn_ids)
            if why is not None:
                return why
        self._prompt_id = running.prompt_id
        ours = {reply.question_id for reply in self._look.replies}
        # A question is told as often as the agent asks it; its last time counts.
        known = 1 + max(
            place
            for place, event in enumerate(told)
            if isinstance(event, Question) and event.question_id in ours
        )
        return [
            events.TurnContinued(running.id),
            *told[:known],
            *self._replied(running.id),
            events.PerhapsKnown(),
            *told[known:],
            events.CaughtUp(),
        ]

    def _replied(self, turn_id: str) -> Iterator[Event]:
        for reply in self._look.replies:
            shared = self._asked.is_anothers(reply.question_id, but=turn_id)
            named = turn_id if shared else None
            yield events.Replied(reply.question_id)
            yield events.Send(outgoing.answer(reply.question_id, reply.answer, named))
