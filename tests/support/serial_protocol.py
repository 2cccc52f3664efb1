"""An agent protocol whose turn goes over several connections: a run on each, answers between."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from msgspec import Raw

from turnwire.core import events
from turnwire.core.agent import NEVER, AbortScope, Decoded, Feature, KeepsNothing
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Question, Reason
from turnwire.core.operations import OperationName
from turnwire.core.requests import PromptRequest, QuestionReply
from turnwire.core.session_group import Member
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.schema import WireSchema

END = Decoded([events.TurnFinished(reason=Reason.END_TURN)])


class Serial(KeepsNothing):
    """A wire with the frames `ask`, `wait`, `next`, `end`; every other frame is text.

    After `ask` or `wait` the turn waits without a connection. The reply to a question makes the
    next run; its body is the answer. After `next` the end of the connection makes it.
    """

    accepted = True
    queued = False
    deadline = NEVER

    def __init__(self) -> None:
        self.frame_stats = FrameStats()
        self.has_other_watchers = False
        self.opened = 0
        self.replies: list[tuple[QuestionReply, str]] = []
        self._is_connected = False
        self._when_lost: Decoded | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether the turn waits for an answer, without a connection."""
        return self.opened > 0 and not self._is_connected

    def prepare_frame(self, _frame: bytes, /) -> Iterator[None]:
        yield from ()

    def connect_request(self) -> ConnectRequest:
        return ConnectRequest(method="POST", body=b"prompt")

    def connection_opened(self, _now: float) -> Decoded:
        self.opened += 1
        self._is_connected, self._when_lost = True, None
        return Decoded([events.TurnStarted("turn")] if self.opened == 1 else ())

    def connection_lost(self, _now: float) -> Decoded | None:
        self._is_connected = False
        return self._when_lost

    def reply(self, reply: QuestionReply, user_id: str, _now: float) -> Decoded:
        self.replies.append((reply, user_id))
        closed = events.QuestionClosed(reply.question_id, answer=reply.answer)
        return Decoded([closed], connect=self._next_run(bytes(reply.answer)))

    def receive_frame(self, frame: bytes, _now: float) -> Decoded | str:
        match frame:
            case b"ask":
                self._when_lost = Decoded()
                return Decoded([Question("q1", Raw(b"{}"))])
            case b"wait":
                self._when_lost = Decoded()
                return Decoded()
            case b"next":
                self._when_lost = Decoded(connect=self._next_run(b"next"))
                return Decoded()
            case b"again":
                return Decoded(to_agent=[b"bye"], connect=self._next_run(b"again"))
            case b"last":
                self._when_lost = END
                return Decoded()
            case b"end":
                return Decoded(END.events, connect=self._next_run(b"never"))
            case text:
                return text.decode()

    def tick(self, _now: float) -> Decoded:
        return Decoded()

    def client_detached(self) -> None:
        pass

    def unwatched(self) -> None:
        pass

    def mark_stale(self) -> None:
        pass

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.OURS if self._is_connected else AbortScope.NONE

    def abort(self) -> Sequence[bytes]:
        return [b"abort"] if self._is_connected else ()

    def _next_run(self, body: bytes) -> ConnectRequest:
        self._is_connected = False
        return ConnectRequest(method="POST", body=body)


class SerialAgain(Serial):
    """The same, but it is asked when a dial fails: it dials again, at once or after `wait_s`."""

    def __init__(self, wait_s: float = 0.0) -> None:
        super().__init__()
        self.failed = 0
        self._wait_s = wait_s

    def dial_failed(self, now: float) -> Decoded | None:
        self.failed += 1
        if not self._wait_s:
            return Decoded(connect=self._next_run(b"again"))
        self.deadline = now + self._wait_s
        return Decoded()

    def tick(self, now: float) -> Decoded:
        if now < self.deadline:
            return Decoded()
        self.deadline = NEVER
        return Decoded(connect=self._next_run(b"later"))


class SerialLater(SerialAgain):
    """The same, but its first connection only leads to the second one, which accepts the turn."""

    accepted = False

    def connection_opened(self, now: float) -> Decoded:
        begun = super().connection_opened(now)
        self.accepted = self.opened > 1
        return begun if self.accepted else Decoded(connect=self._next_run(b"second"))


class SerialDialect:
    """The dialect. It has prompts alone."""

    name = "serial"
    transport = "framed"
    operations: frozenset[OperationName] = frozenset()
    keeps_history = True
    features = frozenset[Feature]()
    names_sessions = False
    needs = frozenset[str]()
    request_fields = frozenset[str]()
    idle_s = 20.0
    schema = WireSchema(frames=(), deltas=frozenset(), unread={}, inside={}, types={})

    def __init__(self, make: Callable[[], Serial] = Serial) -> None:
        self.made: list[Serial] = []
        self._make = make

    def prompt(self, _request: PromptRequest, _member: Member | None = None) -> Serial:
        self.made.append(self._make())
        return self.made[-1]

    def _missing(self, *_: Any) -> NoReturn:
        raise AssertionError

    resume = stop = answer = read_history = write_message = _missing
