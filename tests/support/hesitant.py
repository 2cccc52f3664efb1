"""An agent protocol of a few words, which decides late whether it accepts a prompt."""

from collections.abc import Iterator, Sequence

from turnwire.core import events
from turnwire.core.agent import NEVER, AbortScope, Decoded, KeepsNothing
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Reason
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.wire.frame_stats import FrameStats

ABORT = b"abort"


class Hesitant(KeepsNothing):
    """A wire with the frames `yes`, `no`, `wait` and `end`; it decides at its deadline."""

    def __init__(self, *, late: Decoded | None = None, deadline: float = NEVER) -> None:
        self.frame_stats = FrameStats()
        self.has_other_watchers = False
        self.accepted = False
        self.queued = False
        self.deadline = deadline
        self._late = late or Decoded()

    def prepare_frame(self, _frame: bytes, /) -> Iterator[None]:
        yield from ()

    def connect_request(self) -> ConnectRequest:
        return ConnectRequest()

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded()

    def connection_lost(self, _now: float) -> None:
        """Return None: the turn ends with its connection."""

    def reply(self, _reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        raise AssertionError

    def client_detached(self) -> None:
        pass

    def unwatched(self) -> None:
        pass

    def mark_stale(self) -> None:
        pass

    def receive_frame(self, frame: bytes, _now: float) -> Decoded | None:
        match frame:
            case b"yes":
                self.accepted, self.queued = True, False
                return Decoded([events.TurnStarted("t")])
            case b"no":
                return Decoded(rejection=Rejection.SESSION)
            case b"wait":
                self.queued = True
                return Decoded([events.Queued()])
            case b"all":
                return Decoded([events.TextDelta("first")], [b"second"], Rejection.SESSION)
            case _:
                end = events.TurnFinished(reason=Reason.END_TURN)
                return Decoded([end, events.TextDelta("never")], [b"never"], Rejection.SESSION)

    def tick(self, _now: float) -> Decoded:
        self.deadline = NEVER
        return self._late

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.SHARED if self.queued else AbortScope.OURS

    def abort(self) -> Sequence[bytes]:
        return () if self.queued else [ABORT]
