"""A third kind of wire, as small as one can be: it keeps nothing, and has no operation at all.

One connection is one run of a turn. A run may end with questions: the next run is a connection of
its own, which is opened with the answers. Closing the connection aborts the run.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import msgspec
from msgspec import Raw, Struct

from turnwire.core.agent import NEVER, AbortScope, Decoded, Feature, KeepsNothing
from turnwire.core.body.conversation import Message
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    Approval,
    Event,
    Phase,
    Question,
    QuestionClosed,
    Reason,
    ToolUpdate,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.operations import OperationName
from turnwire.core.requests import PromptRequest, QuestionReply, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.schema import WireSchema


class Begun(Struct, tag_field="type", tag="begun"):
    turn: str


class Text(Struct, tag_field="type", tag="text"):
    text: str


class Called(Struct, tag_field="type", tag="called"):
    """A call; with a `result`, its end."""

    call: str
    result: str | None = None


class Asks(Struct, tag_field="type", tag="asks"):
    """A question; with a `call`, whether that may run. `expires_at`: milliseconds of the epoch."""

    question: str
    call: str | None = None
    expires_at: int | None = None


class Waits(Struct, tag_field="type", tag="waits"):
    """The run is over, and its questions are open."""


class Over(Struct, tag_field="type", tag="over"):
    pass


class Run(Struct):
    """The body of a run's request."""

    prompt: str | None
    answers: dict[str, Raw]


_read = msgspec.json.Decoder(Begun | Text | Called | Asks | Waits | Over).decode


class AskingProtocol(KeepsNothing):
    """One turn, from run to run."""

    accepted = True
    queued = False
    deadline = NEVER
    has_other_watchers = False

    def __init__(self, run: Run) -> None:
        self.frame_stats = FrameStats()
        self.abort_scope = AbortScope.OURS
        self._run = run
        self._open: dict[str, Raw | None] = {}
        self._has_ended = False

    def connect_request(self) -> ConnectRequest:
        return ConnectRequest(method="POST", body=msgspec.json.encode(self._run))

    def connection_opened(self, _now: float) -> Decoded:
        self._has_ended = False
        return Decoded()

    def connection_lost(self, _now: float) -> Decoded | None:
        return Decoded() if self._has_ended and self._open else None

    def reply(self, reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        self._open[reply.question_id] = reply.answer
        answers = {name: answer for name, answer in self._open.items() if answer is not None}
        closed: list[Event] = [QuestionClosed(reply.question_id, answer=reply.answer)]
        if len(answers) < len(self._open):
            return Decoded(closed)
        self._open.clear()
        self._run = Run(None, answers)
        return Decoded(closed, connect=self.connect_request())

    def prepare_frame(self, _frame: bytes) -> Iterator[None]:
        yield

    def receive_frame(self, raw: bytes, _now: float) -> Decoded | str | None:
        frame: Begun | Text | Called | Asks | Waits | Over = _read(raw)
        match frame:
            case Begun(turn):
                return Decoded([TurnStarted(turn)])
            case Text(text):
                return text
            case Called(call, result):
                return Decoded([_update(call, result)])
            case Asks():
                self._open[frame.question] = None
                return Decoded([_question(frame)])
            case Waits():
                self._has_ended = True
                return Decoded()
            case Over():
                return Decoded([TurnFinished(reason=Reason.END_TURN)])

    def tick(self, _now: float) -> Decoded:
        return Decoded()

    def client_detached(self) -> None: ...

    def unwatched(self) -> None: ...

    def mark_stale(self) -> None: ...

    def abort(self) -> Sequence[bytes]:
        return ()


def _update(call: str, result: str | None) -> ToolUpdate:
    if result is None:
        return ToolUpdate(call_id=call, tool_name="rm", phase=Phase.RUNNING, args=Raw(b"{}"))
    encoded = Raw(msgspec.json.encode(result))
    return ToolUpdate(call_id=call, tool_name="rm", phase=Phase.COMPLETED, result=encoded)


def _question(asks: Asks) -> Question:
    payload = {"text": "ok?"} | ({"expiresAt": asks.expires_at} if asks.expires_at else {})
    approval = None if asks.call is None else Approval(asks.call, "rm", Raw(b"{}"))
    return Question(asks.question, Raw(msgspec.json.encode(payload)), approval)


class Asking:
    """The dialect."""

    name = "asking"
    transport = "framed"
    operations = frozenset[OperationName]()
    idle_s = 20.0
    keeps_history = True
    features = frozenset[Feature]()
    names_sessions = False
    needs = frozenset[str]()
    request_fields = frozenset[str]()
    schema = WireSchema(
        frames=(Begun, Text, Called, Asks, Waits, Over),
        deltas=frozenset({"text"}),
        unread={},
        inside={},
        types={},
    )

    def write_message(self, _message: Message) -> NoReturn:
        raise AssertionError

    def prompt(self, request: PromptRequest, _member: Member | None = None) -> AskingProtocol:
        return AskingProtocol(Run(request.text, {}))

    def resume(self, request: ResumeRequest, _member: Member | None = None) -> AskingProtocol:
        assert request.waiting is not None
        return AskingProtocol(
            Run(None, {reply.question_id: reply.answer for reply in request.replies})
        )

    def _missing(self, *_: Any) -> NoReturn:
        raise AssertionError

    stop = answer = read_history = _missing
