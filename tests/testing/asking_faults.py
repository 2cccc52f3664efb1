"""What may be wrong with a dialect that asks or shares its wire: one fault each, for the suite."""

from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import Raw

import turnwire.dialect as td
from testing import asking_dialects as a
from turnwire.core.answered_questions import AnsweredQuestions
from turnwire.core.approvals import subject
from turnwire.core.events import Approval, TurnStarted
from turnwire.core.rejection import Rejection
from turnwire.core.requests import ResumeRequest
from turnwire.testing import QUESTION, TOOL_NAME


class AnswersTwice(a.Asking):
    """It sends each answer again, in case the first one is lost."""

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        return td.Decoded([td.QuestionClosed(reply.question_id)], to_agent=[a.told(reply)] * 2)


class SwallowsTheAnswer(a.Asking):
    """It closes the question, and sends nothing."""

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        return msgspec.structs.replace(super().take(reply), to_agent=())


class NeverClosed(a.Asking):
    """It goes by what it was ever asked, so that a second answer is sent too."""

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        decoded = super().take(reply)
        self._open[reply.question_id] = None
        return decoded


class TakesAnyId(a.Asking):
    """It does not look which questions there are."""

    def reply(self, reply: td.QuestionReply, _user_id: str, _now: float) -> td.Decoded:
        return td.Decoded(to_agent=[a.told(reply)])


class ForgetsNoExpired(a.Asking):
    """It answers a question that the agent took back."""

    def close(self, question_id: str) -> td.Decoded:
        return td.Decoded([td.QuestionClosed(question_id, expired=True)])


class ShowsNoExpiry(a.Asking):
    """Its client sees an open question for ever."""

    def close(self, question_id: str) -> td.Decoded:
        self._open.pop(question_id, None)
        return td.Decoded()


class YesToAll(a.Asking):
    """A no is sent as a yes."""

    def command(self, reply: td.QuestionReply) -> bytes:
        is_bare = bytes(reply.answer) in {b"true", b"false"}
        return a.told(msgspec.structs.replace(reply, answer=Raw(b"true")) if is_bare else reply)


class Spins(a.Asking):
    """While it waits for an answer, its deadline is in the past."""

    @property
    def deadline(self) -> float:  # type: ignore[override]
        return 0.0 if self._open else td.NEVER


class RaisesAtALateAnswer(a.Asking):
    """It takes for granted that a question is open when an answer comes."""

    def reply(self, reply: td.QuestionReply, _user_id: str, _now: float) -> td.Decoded:
        del self._open[reply.question_id]
        return self.take(reply)


class TellsAll(a.Asking):
    """It tells what other turns tell."""

    def is_ours(self, frame: bytes) -> bool:
        del frame
        return True


class Shared(a.Asking):
    """It has the turns of a session in one place, and clears that when a client leaves."""

    open_turns: Final[dict[str, None]] = {}

    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(request)
        self.open_turns[self._prompt_id] = None

    def abort(self) -> Sequence[bytes]:
        self.open_turns.clear()
        return ()

    def receive_frame(self, frame: bytes, now: float) -> Any:
        return super().receive_frame(frame, now) if self._prompt_id in self.open_turns else None


class TellsNoText(a.Asking):
    """Behind an answer, the detail of its status is a number, which a turn log cannot read."""

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        decoded, detail = super().take(reply), cast("Any", 5)
        status = td.AgentStatus("taken", detail)
        return msgspec.structs.replace(decoded, events=[*decoded.events, status])


class AsksBeside(a.Asking):
    """It does not say which call waits for the answer."""

    def question(self, ask: a.Ask) -> td.Question:
        return msgspec.structs.replace(super().question(ask), approval=None)


class ContinuesAlike(a.Continuing):
    """It sends a yes for a no."""

    def command(self, reply: td.QuestionReply) -> bytes:
        return a.told(msgspec.structs.replace(reply, answer=Raw(b"true")))


class StartsOver(a.Continuing):
    """It begins another message."""

    def connection_opened(self, _now: float) -> td.Decoded:
        return td.Decoded([TurnStarted("another")])


class Believes(a.Continuing):
    """It takes any answer for that to the question that is open."""

    def find(self, request: ResumeRequest) -> AnsweredQuestions:
        asked = subject(request.message_id or "", Approval("c1", TOOL_NAME, a.CALL_INPUT))
        reply = td.QuestionReply("q1", request.replies[0].answer, asked)
        return super().find(msgspec.structs.replace(request, replies=(reply,)))


class AnswersWhatIsClosed(a.Answering):
    def is_open(self, frame: bytes) -> bool:
        del frame
        return True


class NeverDone(a.Answering):
    """It waits for its agent for ever."""

    def tick(self, _now: float) -> Sequence[bytes]:
        return ()

    def connection_lost(self) -> None: ...


class Unconfirmed(a.Answering):
    """It gives up before the agent confirms."""

    def receive_frame(self, frame: bytes, now: float) -> Sequence[bytes]:
        sent = super().receive_frame(frame, now)
        self.result = Rejection.SILENT
        return sent


FAULTS: Final[dict[str, tuple[Any, str, str]]] = {
    "sends an answer twice": (
        a.asking(AnswersTwice),
        "test_an_answer_reaches_its_agent",
        "sent 2 times",
    ),
    "sends no answer": (
        a.asking(SwallowsTheAnswer),
        "test_an_answer_reaches_its_agent",
        "sent 0 times",
    ),
    "says that an answer was not taken": (
        a.asking(a.Asking, Unconfirmed),
        "test_an_answer_reaches_its_agent",
        "Rejection.SILENT",
    ),
    "sends a yes for a no": (
        a.asking(YesToAll),
        "test_a_yes_and_a_no_differ",
        "a yes and a no are",
    ),
    "keeps a question open": (
        a.asking(NeverClosed),
        "test_a_second_answer_is_not_sent",
        "an answer to q1 is sent",
    ),
    "answers a closed question by an operation": (
        a.asking(a.Asking, AnswersWhatIsClosed),
        "test_a_second_answer_is_not_sent",
        "an answer to q1 is sent",
    ),
    "takes an answer to nothing": (
        a.asking(TakesAnyId),
        "test_an_answer_to_nothing_is_not_sent",
        "an answer to never-asked is sent",
    ),
    "answers what expired": (
        a.asking(ForgetsNoExpired),
        "test_a_question_that_expired_takes_no_answer",
        "an answer to q1 is sent",
    ),
    "shows no expiry": (
        a.asking(ShowsNoExpiry),
        "test_a_question_that_expired_takes_no_answer",
        "open to the end",
    ),
    "spins while it waits": (
        a.asking(Spins),
        "test_a_turn_that_nobody_answers_ends",
        "in the past",
    ),
    "raises at a late answer": (
        a.asking(RaisesAtALateAnswer),
        "test_an_answer_may_come_at_any_time",
        "KeyError",
    ),
    "has an operation without a result": (
        a.asking(a.Asking, NeverDone),
        "test_an_answer_may_come_at_any_time",
        "has no result",
    ),
    "tells what cannot be read again": (
        a.asking(TellsNoText),
        "test_an_answered_turn_is_read_again",
        "int for",
    ),
    "has a schema whose redaction keeps a question": (
        a.asking(a.Asking, phrases=(QUESTION,)),
        "test_a_recording_hides_the_answer",
        "rhubarb",
    ),
    "names no call": (
        a.asking(AsksBeside),
        "test_a_native_approval_ends_its_response",
        "does not end the response",
    ),
    "goes on with a yes for a no": (
        a.asking(a.Asking, continuing=ContinuesAlike),
        "test_the_next_response_goes_on",
        "a yes and a no are",
    ),
    "starts over behind an answer": (
        a.asking(a.Asking, continuing=StartsOver),
        "test_the_next_response_goes_on",
        "after input-available",
    ),
    "believes any answer": (
        a.asking(a.Asking, continuing=Believes),
        "test_a_foreign_answer_is_refused",
        "is not refused",
    ),
    "tells another one's turn": (
        a.asking(TellsAll),
        "test_each_stream_tells_its_own_turn",
        "Rhubarb Thistles",
    ),
    "forgets the others when one leaves": (
        a.asking(Shared),
        "test_one_that_leaves_takes_nothing_from_the_other",
        "the turn is not over",
    ),
}
"""A dialect with a fault, the test that finds it, and why."""
