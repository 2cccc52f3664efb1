"""The base class of this dialect's operations.

A subclass implements the four abstract methods: `init` came, another frame came, the deadline
after `init` passed, the operation is rejected.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from turnwire.core.connect import ConnectRequest
from turnwire.core.rejection import Rejection
from turnwire.core.requests import OperationRequest
from turnwire.core.wire import operation
from turnwire.dialects.session_agent import frames, init
from turnwire.dialects.session_agent.commands import CONNECT
from turnwire.dialects.session_agent.init import SessionState, session_state


class Operation(operation.Operation[frames.Read]):
    """Needs `init`, which every agent sends. Ignores frames that R sends before it."""

    def __init__(self, request: OperationRequest) -> None:
        super().__init__(frames.decoder, request.init_s, request.verdict_s)
        self.channel = request.channel
        self._ahead = init.Ahead()

    def connect_request(self) -> ConnectRequest:
        return CONNECT

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return init.prepare_frame(raw, self._ahead)

    def _handle(self, frame: frames.Read, now: float) -> Sequence[bytes]:
        if not isinstance(frame, frames.Init):
            return self._frame_received(frame, now) if self._is_past_init else ()
        try:
            if self._is_past_init:
                return self._frame_received(frame, now)
            to_send = self._init_received(frame, session_state(frame), now)
            self._is_past_init = True
            return to_send
        finally:
            self._ahead.drop()

    def _init_missing(self, _now: float) -> Sequence[bytes]:
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
    def _refuse(self, rejection: Rejection) -> None:
        """Make this rejection the result."""
        ...
