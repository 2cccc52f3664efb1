"""Continues a turn for a client that answers approvals in a request of its own.

The run that asked is over. Its turn log has its events, if there is one. Otherwise nobody knows of
it: the client's message has the calls that wait, and each answer's id was signed for one of them.
The next run begins with the answers, and goes on in the client's message.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from turnwire.core import safe_json
from turnwire.core.agent import Decoded
from turnwire.core.answered_questions import cards, find_answered
from turnwire.core.body.conversation import Call, Conversation, Unresolved
from turnwire.core.events import Event, Question, ToolUpdate
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.dialects.ag_ui import asking, decisions, interrupts
from turnwire.dialects.ag_ui.decisions import About
from turnwire.dialects.ag_ui.frames import RunFinished, RunStarted
from turnwire.dialects.ag_ui.turn import TurnProtocol

_NONE: Final = Conversation((), {})


class ContinuationProtocol(TurnProtocol):
    """The run that answers begin, for a client that has what was before it."""

    def __init__(self, request: ResumeRequest) -> None:
        """Check the answers, and learn the calls of the runs before.

        Raises:
            RejectedError: an answer is to no question that is open, or the client's message has
                another call at its card than the one that was shown.

        """
        answered, conversation = find_answered(request), request.conversation
        turn_id = answered.turn_id
        sent = () if conversation is None else conversation.written
        super().__init__(request, turn_id, _run_id(turn_id, request.replies), sent)
        self._has_begun = True
        self._is_replay = not request.session_id
        self._learn_calls(answered.pending, conversation or _NONE, request)
        about = self._about(answered.questions)
        for reply, question in zip(request.replies, answered.questions, strict=True):
            self._take_answer(
                reply,
                is_approval=question.is_approval,
                takes_reason=interrupts.takes_reason(question),
                about=about.get(question.question_id, ()),
            )
        self._replay = answered.replay

    def connection_opened(self, _now: float) -> Decoded:
        replay, self._replay = self._replay, ()
        return Decoded(replay)

    def _is_ours(self, frame: RunStarted | RunFinished) -> bool | None:
        if self._is_replay and isinstance(frame, RunStarted):
            # Redacted answers make another id: in a recording, the first run is the one.
            self._is_replay = False
            self._run_id = safe_json.short_string(frame.run_id) or self._run_id
        return super()._is_ours(frame)

    def _learn_calls(
        self,
        pending: Sequence[Call],
        conversation: Conversation,
        request: ResumeRequest,
    ) -> None:
        """Know the calls of earlier runs: the next run has their results, and may repeat them."""
        calls, log = self._progress.calls, request.waiting
        for call in pending:
            calls.adopt(call.call_id, call.name, call.input)
            self._progress.transcript.adopt(call.call_id, call.name, call.input)
        for event in cards(conversation) if log is None else log:
            if isinstance(event, ToolUpdate):
                calls.follow(event)
        # In a log that has other questions, a user may have denied a call. An agent may have one id
        # for all that it asks.
        answered = {each.question_id for each in request.replies}
        were_never_asked = log is not None and _count_questions(log) <= len(answered)
        learnt: set[str] = set()
        for each in conversation.unresolved:
            if each.call.call_id not in learnt:  # a client may have copied its card
                self._learn_unresolved(each, learnt, sends_error=not were_never_asked)
        calls.next_run()

    def _about(self, questions: Iterable[Question]) -> Mapping[str, Sequence[About]]:
        """The calls that each question is about, by its id: as the process knew them that asked."""
        at = {each.question_id: each.approval.call_id for each in questions if each.approval}
        named = {each: call_id for each, call_id in at.items() if decisions.names_call(each)}
        others = [call_id for each, call_id in at.items() if each not in named]
        about = asking.abouts(others, named.values(), self._progress.calls)
        return {each: (about.get(call_id, About((call_id,))),) for each, call_id in at.items()}

    def _learn_unresolved(self, found: Unresolved, learnt: set[str], *, sends_error: bool) -> None:
        """Know the error that the agent is sent in the place of a result.

        It is not sent where the log shows that the very call has no result, and that nobody was
        asked about it. Otherwise that is the client's word: an agent that ran the call then would
        run what nobody allowed.
        """
        call, place = found.call, found.place
        is_so = self._progress.calls.was_settled_as(call.call_id, call.name, call.input)
        if is_so and place is not None:
            learnt.add(call.call_id)
            self._progress.transcript.stands_in(
                call.call_id, found.sent_id, place, sends_error=sends_error
            )


def _count_questions(log: Iterable[Event]) -> int:
    return sum(isinstance(event, Question) for event in log)


def _run_id(turn_id: str, replies: Sequence[QuestionReply]) -> str:
    """The id of the run that these replies begin: the same if they are sent again."""
    names = [[reply.question_id, bytes(reply.answer).decode()] for reply in replies]
    digest = hashlib.sha256(msgspec.json.encode([turn_id, names])).hexdigest()
    return f"{turn_id}-{digest[:16]}"
