"""A dialect that asks and shares its wire, and has no fault.

It speaks the wire of the example, which has two frames more: `ask` and `expired`. Each frame may
name the prompt whose turn it is of.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

import turnwire.dialect as td
from testing.minimal_suite import MinimalSuite, example
from turnwire.core.answered_questions import AnsweredQuestions, find_answered
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Approval
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
CALL_INPUT: Final = Raw(json.dumps(INPUT).encode())
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
        approval = None if ask.call is None else Approval(ask.call, TOOL_NAME, CALL_INPUT)
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
