"""A dialect that asks and shares its wire, sound and with one fault each, for the suite to find.

It speaks the wire of the example, which has two frames more: `ask` and `expired`. Each frame may
name the prompt whose turn it is of.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import Raw, Struct

import turnwire.dialect as td
from testing.minimal_suite import MinimalSuite, example
from turnwire.core.answered_questions import AnsweredQuestions, find_answered
from turnwire.core.approvals import subject
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Approval, TurnStarted
from turnwire.core.operations import Answered, OperationName
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest, ResumeRequest
from turnwire.testing import (
    INPUT,
    OUTPUT,
    QUESTION,
    SIDE_BY_SIDE,
    TOOL_NAME,
    Exchange,
    Script,
)


class Ask(Struct, tag="ask"):
    id: td.Id
    text: td.HandedOn = ""
    call: td.Id | None = None


class Expired(Struct, tag="expired"):
    id: td.Id


class Of(Struct):
    of: td.Id | None = None


FRAMES: Final = (*example.FRAMES, Ask, Expired)
DECODER: Final[td.FrameDecoder[Any]] = td.frame_decoder(*FRAMES)
_INPUT: Final = Raw(json.dumps(INPUT).encode())
_decode_of = msgspec.json.Decoder(Of).decode


class Asking(example.Turn):
    """The protocol, which has no fault."""

    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(request)
        self._prompt_id = request.prompt_id
        self._open: dict[str, None] = {}

    def receive_frame(self, frame: bytes, now: float) -> Any:
        if not self.is_ours(frame):
            self.frame_stats.foreign += 1
            return None
        if b'"ask"' not in frame and b'"expired"' not in frame:
            return super().receive_frame(frame, now)
        match DECODER.read(frame, self.frame_stats):
            case Ask(id=question_id) as ask:
                td.keep(self._open, question_id, None, td.OPEN_QUESTIONS_MAX)
                return td.Decoded([self.question(ask)])
            case Expired(id=question_id):
                return self.close(question_id)
            case _:
                return None

    def question(self, ask: Ask) -> td.Question:
        approval = None if ask.call is None else Approval(ask.call, TOOL_NAME, _INPUT)
        return td.Question(ask.id, Raw(msgspec.json.encode({"text": ask.text})), approval)

    def is_ours(self, frame: bytes) -> bool:
        try:
            return _decode_of(frame).of in {None, self._prompt_id}
        except (msgspec.DecodeError, UnicodeDecodeError):
            return True

    def close(self, question_id: str) -> td.Decoded:
        self._open.pop(question_id, None)
        return td.Decoded([td.QuestionClosed(question_id, expired=True)])

    def reply(self, reply: td.QuestionReply, _user_id: str, _now: float) -> td.Decoded:
        if reply.question_id not in self._open:
            return td.Decoded()
        return self.take(reply)

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        self._open.pop(reply.question_id, None)
        closed = td.QuestionClosed(reply.question_id, answer=reply.answer)
        return td.Decoded([closed], to_agent=[self.command(reply)])

    def command(self, reply: td.QuestionReply) -> bytes:
        return told(reply)


def told(reply: td.QuestionReply) -> bytes:
    return msgspec.json.encode({"type": "answer", "id": reply.question_id, "answer": reply.answer})


class Continuing(Asking):
    """The turn in the request that has the answer of a client with native approvals."""

    def __init__(self, request: ResumeRequest) -> None:
        answered = self.find(request)
        super().__init__(td.PromptRequest(text="", prompt_id=answered.turn_id))
        self._replies = request.replies
        self._replay = answered.replay

    def find(self, request: ResumeRequest) -> AnsweredQuestions:
        return find_answered(request)

    def connect_request(self) -> ConnectRequest:
        return ConnectRequest(method="POST", body=b"".join(map(self.command, self._replies)))

    def connection_opened(self, _now: float) -> td.Decoded:
        return td.Decoded(self._replay)


class AnswersTwice(Asking):
    """It sends each answer again, in case the first one is lost."""

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        return td.Decoded([td.QuestionClosed(reply.question_id)], to_agent=[told(reply)] * 2)


class SwallowsTheAnswer(Asking):
    """It closes the question, and sends nothing."""

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        return msgspec.structs.replace(super().take(reply), to_agent=())


class NeverClosed(Asking):
    """It goes by what it was ever asked, so that a second answer is sent too."""

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        decoded = super().take(reply)
        self._open[reply.question_id] = None
        return decoded


class TakesAnyId(Asking):
    """It does not look which questions there are."""

    def reply(self, reply: td.QuestionReply, _user_id: str, _now: float) -> td.Decoded:
        return td.Decoded(to_agent=[told(reply)])


class ForgetsNoExpired(Asking):
    """It answers a question that the agent took back."""

    def close(self, question_id: str) -> td.Decoded:
        return td.Decoded([td.QuestionClosed(question_id, expired=True)])


class ShowsNoExpiry(Asking):
    """Its client sees an open question for ever."""

    def close(self, question_id: str) -> td.Decoded:
        self._open.pop(question_id, None)
        return td.Decoded()


class YesToAll(Asking):
    """A no is sent as a yes."""

    def command(self, reply: td.QuestionReply) -> bytes:
        is_bare = bytes(reply.answer) in {b"true", b"false"}
        return told(msgspec.structs.replace(reply, answer=Raw(b"true")) if is_bare else reply)


class Spins(Asking):
    """While it waits for an answer, its deadline is in the past."""

    @property
    def deadline(self) -> float:  # type: ignore[override]
        return 0.0 if self._open else td.NEVER


class RaisesAtALateAnswer(Asking):
    """It takes for granted that a question is open when an answer comes."""

    def reply(self, reply: td.QuestionReply, _user_id: str, _now: float) -> td.Decoded:
        del self._open[reply.question_id]
        return self.take(reply)


class TellsAll(Asking):
    """It tells what other turns tell."""

    def is_ours(self, frame: bytes) -> bool:
        del frame
        return True


class Shared(Asking):
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


class TellsNoText(Asking):
    """Behind an answer, the detail of its status is a number, which a turn log cannot read."""

    def take(self, reply: td.QuestionReply) -> td.Decoded:
        decoded, detail = super().take(reply), cast("Any", 5)
        status = td.AgentStatus("taken", detail)
        return msgspec.structs.replace(decoded, events=[*decoded.events, status])


class AsksBeside(Asking):
    """It does not say which call waits for the answer."""

    def question(self, ask: Ask) -> td.Question:
        return msgspec.structs.replace(super().question(ask), approval=None)


class ContinuesAlike(Continuing):
    """It sends a yes for a no."""

    def command(self, reply: td.QuestionReply) -> bytes:
        return told(msgspec.structs.replace(reply, answer=Raw(b"true")))


class StartsOver(Continuing):
    """It begins another message."""

    def connection_opened(self, _now: float) -> td.Decoded:
        return td.Decoded([TurnStarted("another")])


class Believes(Continuing):
    """It takes any answer for that to the question that is open."""

    def find(self, request: ResumeRequest) -> AnsweredQuestions:
        asked = subject(request.message_id or "", Approval("c1", TOOL_NAME, _INPUT))
        reply = td.QuestionReply("q1", request.replies[0].answer, asked)
        return super().find(msgspec.structs.replace(request, replies=(reply,)))


class Answering:
    """The operation that answers: the first frame names the open question, the second confirms."""

    deadline = 9.0

    def __init__(self, request: AnswerRequest) -> None:
        self.reply = request.reply
        self.result: Answered | Rejection | None = None
        self.is_sent = False

    def connect_request(self) -> ConnectRequest:
        return ConnectRequest()

    def connection_opened(self, _now: float) -> Sequence[bytes]:
        return ()

    def receive_frame(self, frame: bytes, _now: float) -> Sequence[bytes]:
        if self.is_sent:
            self.result = Answered()
            return ()
        if not self.is_open(frame):
            self.result = Rejection.CLOSED
            return ()
        self.is_sent = True
        return [told(self.reply)]

    def is_open(self, frame: bytes) -> bool:
        return bool(json.loads(frame)["id"] == self.reply.question_id)

    def tick(self, _now: float) -> Sequence[bytes]:
        self.result = Rejection.SILENT
        return ()

    def connection_lost(self) -> None:
        self.result = self.result or Rejection.SILENT


class AnswersWhatIsClosed(Answering):
    def is_open(self, frame: bytes) -> bool:
        del frame
        return True


class NeverDone(Answering):
    """It waits for its agent for ever."""

    def tick(self, _now: float) -> Sequence[bytes]:
        return ()

    def connection_lost(self) -> None: ...


class Unconfirmed(Answering):
    """It gives up before the agent confirms."""

    def receive_frame(self, frame: bytes, now: float) -> Sequence[bytes]:
        sent = super().receive_frame(frame, now)
        self.result = Rejection.SILENT
        return sent


def asking(
    protocol: Any,
    operation: Any = None,
    *,
    continuing: Any = Continuing,
    phrases: tuple[str, ...] = (),
) -> Any:
    """Return the dialect with these protocols, and with this operation for answers.

    `phrases`: texts that a redacted recording keeps.
    """

    class Dialect(example.Minimal):
        features = example.Minimal.features | {td.Feature.QUESTIONS}
        schema = td.WireSchema(frames=FRAMES, deltas=frozenset({"say"}), phrases=phrases)
        operations = frozenset({OperationName.ANSWER} if operation else ())

        def prompt(self, request: td.PromptRequest, _member: td.Member | None = None) -> Any:
            return protocol(request)

        def resume(self, request: ResumeRequest, _member: td.Member | None = None, /) -> Any:
            return continuing(request)

        def answer(self, request: AnswerRequest, /) -> Any:  # type: ignore[override]
            return operation(request)

    return Dialect()


def frame(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


class AskingSuite(MinimalSuite):
    rounds = 2_000

    def __init__(self, dialect: Any) -> None:
        self.dialect = dialect

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        del prompt_id
        texts = [frame("say", text=text) for text in script.texts]
        closed = [frame("expired", id="q1")] if script.name == "expired" else []
        call = {"id": "c1", "name": TOOL_NAME, "input": INPUT}
        goes_on = [*closed, *texts[1:], frame("done")]
        asked = [frame("ask", id="q1", text=QUESTION)]
        if script.name in {"approved", "denied"}:
            asked = [frame("tool", **call), frame("ask", id="q1", call="c1")]
            output = OUTPUT if script.calls else "denied"
            goes_on.insert(0, frame("tool", **call, output=[output]))
        return Exchange(
            asks=[texts[0], *asked],
            goes_on=goes_on,
            resumes=lambda _: goes_on,
            operation=[frame("open", id="q1"), frame("taken")],
            late=[frame("open", id="q2")],
        )

    def shared_frames(self, first: str, second: str) -> Sequence[bytes] | None:
        turns = [
            [*(frame("say", text=text, of=of) for text in texts), frame("done", of=of)]
            for of, texts in zip((first, second), SIDE_BY_SIDE, strict=True)
        ]
        return [each for pair in zip(*turns, strict=True) for each in pair]


FAULTS: Final[dict[str, tuple[Any, str, str]]] = {
    "sends an answer twice": (
        asking(AnswersTwice),
        "test_an_answer_reaches_its_agent",
        "sent 2 times",
    ),
    "sends no answer": (
        asking(SwallowsTheAnswer),
        "test_an_answer_reaches_its_agent",
        "sent 0 times",
    ),
    "says that an answer was not taken": (
        asking(Asking, Unconfirmed),
        "test_an_answer_reaches_its_agent",
        "Rejection.SILENT",
    ),
    "sends a yes for a no": (
        asking(YesToAll),
        "test_a_yes_and_a_no_differ",
        "a yes and a no are",
    ),
    "keeps a question open": (
        asking(NeverClosed),
        "test_a_second_answer_is_not_sent",
        "an answer to q1 is sent",
    ),
    "answers a closed question by an operation": (
        asking(Asking, AnswersWhatIsClosed),
        "test_a_second_answer_is_not_sent",
        "an answer to q1 is sent",
    ),
    "takes an answer to nothing": (
        asking(TakesAnyId),
        "test_an_answer_to_nothing_is_not_sent",
        "an answer to never-asked is sent",
    ),
    "answers what expired": (
        asking(ForgetsNoExpired),
        "test_a_question_that_expired_takes_no_answer",
        "an answer to q1 is sent",
    ),
    "shows no expiry": (
        asking(ShowsNoExpiry),
        "test_a_question_that_expired_takes_no_answer",
        "open to the end",
    ),
    "spins while it waits": (
        asking(Spins),
        "test_a_turn_that_nobody_answers_ends",
        "in the past",
    ),
    "raises at a late answer": (
        asking(RaisesAtALateAnswer),
        "test_an_answer_may_come_at_any_time",
        "KeyError",
    ),
    "has an operation without a result": (
        asking(Asking, NeverDone),
        "test_an_answer_may_come_at_any_time",
        "has no result",
    ),
    "tells what cannot be read again": (
        asking(TellsNoText),
        "test_an_answered_turn_is_read_again",
        "int for",
    ),
    "has a schema whose redaction keeps a question": (
        asking(Asking, phrases=(QUESTION,)),
        "test_a_recording_hides_the_answer",
        "rhubarb",
    ),
    "names no call": (
        asking(AsksBeside),
        "test_a_native_approval_ends_its_response",
        "does not end the response",
    ),
    "goes on with a yes for a no": (
        asking(Asking, continuing=ContinuesAlike),
        "test_the_next_response_goes_on",
        "a yes and a no are",
    ),
    "starts over behind an answer": (
        asking(Asking, continuing=StartsOver),
        "test_the_next_response_goes_on",
        "after input-available",
    ),
    "believes any answer": (
        asking(Asking, continuing=Believes),
        "test_a_foreign_answer_is_refused",
        "is not refused",
    ),
    "tells another one's turn": (
        asking(TellsAll),
        "test_each_stream_tells_its_own_turn",
        "Rhubarb Thistles",
    ),
    "forgets the others when one leaves": (
        asking(Shared),
        "test_one_that_leaves_takes_nothing_from_the_other",
        "the turn is not over",
    ),
}
"""A dialect with a fault, the test that finds it, and why."""
