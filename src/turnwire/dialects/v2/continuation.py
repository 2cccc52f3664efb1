"""Continues a turn: answers questions of the running turn, and follows it from there.

The client already has all events up to the last of these questions. Of the
events after it, the client has as many as its message says; the rest comes
first. From then on the turn counts as ours, and a client that disconnects
aborts it, unless another user asked for the turn or another stream follows it.
"""

from collections.abc import Iterator, Sequence

from turnwire.core import events
from turnwire.core.agent import AbortScope, Decoded
from turnwire.core.events import Question, find_open_questions
from turnwire.core.rejection import Rejection
from turnwire.dialects.v2 import commands, init, progress
from turnwire.dialects.v2.resume import ResumeProtocol


class ContinuationProtocol(ResumeProtocol):
    """A `ResumeProtocol` with replies. It sends them only if all of their questions are open."""

    @property
    def abort_scope(self) -> AbortScope:
        # If `init` does not name the user who sent the prompt, an abort is allowed, but not in
        # groups that are apart: that user may follow the turn through a process we cannot see.
        own_askers = (
            {self._resume_request.user_id}
            if self._member.apart
            else {None, self._resume_request.user_id}
        )
        is_shared = self._asker not in own_askers or self._member.has_other_watchers
        return AbortScope.OURS if self._binding.is_running and not is_shared else AbortScope.NONE

    def abort(self) -> Sequence[bytes]:
        turn_id = self._binding.turn_id
        if turn_id is None or self.abort_scope is not AbortScope.OURS:
            return ()
        return [commands.stop(self.channel, turn_id, self._prompt_id)]

    def client_detached(self) -> None:
        self._member.client_detached(self._resume_request.user_id)

    def _init_missing(self) -> Rejection:
        """No `init` came in time: the state of the question and the events after it are unknown."""
        return Rejection.UNSUPPORTED

    def _no_turn_runs(self, _waiting: init.Entry | None) -> Rejection:
        return Rejection.CLOSED

    def _replay(self, running: init.Entry) -> Decoded | Rejection:
        replayed = list(self._track_questions(progress.turn_events(running)))
        # A resumed stream has the id of the turn's message in place of the turn's id.
        turn_ids = {running.id, self._message_id(running.id)}
        if not self._resume_request.terms.admit(self._resume_request.user_id, self._asker):
            return Rejection.CLOSED
        open_questions = find_open_questions(replayed)
        for reply in self._resume_request.replies:
            question = open_questions.get(reply.question_id)
            if question is None:
                return Rejection.CLOSED
            rejection = self._resume_request.terms.rejection(question, reply.subject, turn_ids)
            if rejection is not None:
                return rejection
        self._prompt_id = running.prompt_id
        answered_ids = {reply.question_id for reply in self._resume_request.replies}
        # The agent may repeat a question; its last event counts.
        client_has = 1 + max(
            index
            for index, event in enumerate(replayed)
            if isinstance(event, Question) and event.question_id in answered_ids
        )
        replay = [
            events.ReplayStarted(running.id),
            *replayed[:client_has],
            *(events.Replied(reply.question_id) for reply in self._resume_request.replies),
            events.ReplayUncertain(),
            *replayed[client_has:],
            events.ReplayFinished(),
        ]
        return Decoded(replay, list(self._answers(running.id)))

    def _answers(self, turn_id: str) -> Iterator[bytes]:
        """The frame of each reply. An answer names its turn if its question id is not unique."""
        for reply in self._resume_request.replies:
            is_ambiguous = self._open_questions.is_open_elsewhere(reply.question_id, but=turn_id)
            named_turn_id = turn_id if is_ambiguous else None
            yield commands.answer(reply.question_id, reply.answer, named_turn_id)
