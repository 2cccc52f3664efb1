"""The answer operation: answers a question that is open.

The agent takes the first answer to a question, and ignores a second one.
"""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from turnwire.core import safe_json
from turnwire.core.events import find_open_questions
from turnwire.core.operations import Answered
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest
from turnwire.dialects.v2 import commands, frames, init, progress
from turnwire.dialects.v2.operation import Operation
from turnwire.dialects.v2.questions import TurnRef


class AnswerOperation(Operation):
    """Finds the question in `init`, sends the answer, and waits until the question is closed."""

    def __init__(self, request: AnswerRequest) -> None:
        super().__init__(request)
        self.result: Answered | Rejection | None = None
        self._question_id = request.reply.question_id
        self._answer = request.reply.answer
        self._ahead = init.Ahead(_preload_questions)
        self._turn = TurnRef()
        """The turn that asks, as far as its ids are known."""
        self._other_turns: Sequence[TurnRef] = ()
        """Other turns that wait for a question of the same id."""
        self._answer_request = request

    def connection_lost(self) -> None:
        self.result = self.result or Rejection.SILENT

    def _init_received(self, frame: frames.Init, entries: list[init.Entry]) -> Sequence[bytes]:
        """Look for the question on the request's channel first, then on all channels."""
        request = self._answer_request
        asking = [entry for entry in entries if self._has_question(entry)]
        askers = init.askers_by_prompt(entries)
        allowed = [
            e for e in asking if request.terms.admit(request.user_id, init.asker_from(e, askers))
        ]
        on_channel = [entry for entry in allowed if entry.channel == self.channel]
        waiting = [entry for entry in asking if self._is_waiting(entry)]
        admitted = set(map(id, on_channel or allowed))
        candidates = [entry for entry in waiting if id(entry) in admitted]
        if not candidates:
            self.result = Rejection.CLOSED if allowed else Rejection.UNKNOWN
            return ()
        running_id = frame.data.running_turn_id
        turn = next((entry for entry in candidates if entry.id == running_id), candidates[-1])
        if not on_channel and len(candidates) > 1 and turn.id != running_id:
            self.result = Rejection.UNKNOWN  # several turns ask, and all on other channels
            return ()
        self.result = self._rejection(turn)
        if self.result is not None:
            return ()
        self._turn = _turn_ref(turn)
        self._other_turns = [_turn_ref(entry) for entry in waiting if entry is not turn]
        return self._send(turn.id if self._other_turns else None)

    def _rejection(self, turn: init.Entry) -> Rejection | None:
        """Why this turn's question does not take the answer; None if it does."""
        question = find_open_questions(progress.turn_events(turn)).get(self._question_id)
        if question is None:  # its part cannot become an event, so its content is unknown
            return Rejection.UNKNOWN
        # A resumed stream has the id of the turn's message in place of the turn's id.
        turn_ids = {turn.id, init.message_id(turn.id, {turn.id})}
        request = self._answer_request
        return request.terms.rejection(question, request.reply.subject, turn_ids)

    def _without_init(self) -> Sequence[bytes]:
        if self._answer_request.terms.signed:  # it may be an approval, of an unknown call
            self.result = Rejection.UNSUPPORTED
            return ()
        return self._send()

    def _send(self, turn_id: str | None = None) -> Sequence[bytes]:
        return [commands.answer(self._question_id, self._answer, turn_id)]

    def _has_question(self, entry: init.Entry) -> bool:
        """Whether this turn asked the question, be it open or closed."""
        return self._question_id in entry.questions

    def _is_waiting(self, entry: init.Entry) -> bool:
        """Whether this turn waits for an answer to the question."""
        return entry.is_open and self._question_id in entry.open_questions

    def _frame_received(self, frame: frames.Read) -> None:
        if not isinstance(frame, frames.QuestionEnd) or not self._closes_our_question(frame):
            return
        match frame:
            case frames.QuestionResolved(answer=answer):
                sent = safe_json.sanitize(self._answer)
                is_ours = not answer or _is_same_json(bytes(answer), bytes(sent))
                is_ours = is_ours and self._is_past_init  # before that, no answer was sent
                self.result = Answered() if is_ours else Rejection.CLOSED
            case frames.QuestionExpired():
                self.result = Rejection.CLOSED
            case _:
                assert_never(frame)

    def _closes_our_question(self, frame: frames.QuestionEnd) -> bool:
        """Whether a frame closes our question, and cannot mean another turn's of the same id."""
        turn = frames.turn_ref(frame)
        is_exact = bool(turn.turn_id or turn.prompt_id)
        return (
            frame.question_id == self._question_id
            and turn.may_match(self._turn)
            and (is_exact or not any(map(turn.may_match, self._other_turns)))
        )

    def _no_reply(self) -> None:
        self.result = Answered()  # the answer was sent, and an agent need not confirm it


def _preload_questions(entry: init.Entry) -> object:
    """Fill the cached properties: `questions` of every entry, `is_open` of those that ask."""
    return entry.questions and entry.is_open


def _turn_ref(turn: init.Entry) -> TurnRef:
    return TurnRef(turn.id, turn.prompt_id, turn.channel)


def _is_same_json(one: bytes, other: bytes) -> bool:
    """Whether two JSON texts have the same value."""
    try:
        return bool(msgspec.json.decode(one) == msgspec.json.decode(other))
    except (msgspec.DecodeError, RecursionError):
        return one == other
