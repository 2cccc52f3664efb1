"""The base class of this dialect's operations.

A subclass implements the four abstract methods: `init` came, another frame came, the deadline
passed, the operation is rejected.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from turnwire.core.agent import NEVER, FrameStats
from turnwire.core.connect import ConnectRequest
from turnwire.core.operations import OperationRequest
from turnwire.core.rejection import Rejection
from turnwire.dialects.session_agent import frames, init
from turnwire.dialects.session_agent.commands import CONNECT
from turnwire.dialects.session_agent.frames import Channel
from turnwire.dialects.session_agent.init import SessionState, session_state


class Operation(ABC):
    """Waits for `init`, for `init_s` seconds at most. Ignores frames that R sends before it."""

    def __init__(self, request: OperationRequest) -> None:
        self.frame_stats = FrameStats()
        self.deadline = NEVER
        self.channel: Channel = (request.channel_type, request.channel_id)
        self._init_s = request.init_s
        self._verdict_s = request.verdict_s
        self._has_init = False
        self._ahead = init.Ahead()

    def connect_request(self) -> ConnectRequest:
        return CONNECT

    def connection_opened(self, now: float) -> Sequence[bytes]:
        self.deadline = now + self._init_s
        return ()

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return init.prepare_frame(raw, self._ahead)

    def receive_frame(self, raw: bytes, now: float) -> Sequence[bytes]:
        frame = frames.read(raw, self.frame_stats)
        try:
            if isinstance(frame, frames.Init) and not self._has_init:
                to_send = self._init_received(frame, session_state(frame), now)
                self._has_init = True
                return to_send
            return () if frame is None or not self._has_init else self._frame_received(frame, now)
        except RecursionError:  # nested too deeply, though `prepare_frame` accepted it
            self.frame_stats.count_unreadable(raw)
            return ()
        finally:
            if isinstance(frame, frames.Init):
                self._ahead.drop()

    def tick(self, now: float) -> Sequence[bytes]:
        if now < self.deadline:
            return ()
        if self._has_init:
            return self._deadline_passed(now)
        self._refuse(Rejection.SILENT)
        return ()

    @abstractmethod
    def _init_received(
        self, frame: frames.Init, state: SessionState, now: float
    ) -> Sequence[bytes]:
        """Handle `init`: set a result, return frames to send, or set a deadline for more frames."""
        ...

    @abstractmethod
    def _frame_received(self, frame: frames.Read, now: float) -> Sequence[bytes]:
        """Handle a frame after `init`. Return the frames to send."""
        ...

    @abstractmethod
    def _deadline_passed(self, now: float) -> Sequence[bytes]:
        """Handle the end of the deadline after `init`. Return the frames to send."""
        ...

    @abstractmethod
    def _refuse(self, rejection: Rejection) -> None:
        """Make this rejection the result."""
        ...

    def _send_and_wait(self, frame: bytes, now: float) -> Sequence[bytes]:
        """Return a frame to send, and set the deadline for the verdict of the agent."""
        self.deadline = now + self._verdict_s
        return [frame]
