"""An agent protocol that decodes frames to what a test gave it."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from turnwire.core import events
from turnwire.core.agent import NEVER, AbortScope, Decoded, KeepsNothing
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import QuestionReply
from turnwire.core.wire.frame_stats import FrameStats

FrameResult: TypeAlias = Decoded | str | None


class Scripted(KeepsNothing):
    """A protocol that decodes each frame to the next of these."""

    accepted = True
    queued = False
    deadline = NEVER

    def __init__(self, decoded: Sequence[FrameResult]) -> None:
        self.frame_stats = FrameStats()
        self.has_other_watchers = False
        self._decoded = iter(decoded)

    def prepare_frame(self, _frame: bytes, /) -> Iterator[None]:
        yield from ()

    def connect_request(self) -> ConnectRequest:
        return ConnectRequest()

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded([events.TurnStarted("turn")])

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

    def receive_frame(self, _frame: bytes, _now: float) -> FrameResult:
        return next(self._decoded)

    def tick(self, _now: float) -> Decoded:
        return Decoded()

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.NONE

    def abort(self) -> Sequence[bytes]:
        return ()
