"""The base class of the operations of the `v2` dialect: stop, answer, history.

Each operation waits for `init` first. A subclass implements `_init_received` and
`_init_missing`; one that sends a frame also implements `_frame_received` and
`_deadline_passed`, to wait for the result.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from turnwire.core.agent import NEVER, FrameStats
from turnwire.core.connect import ConnectRequest
from turnwire.core.operations import OperationRequest
from turnwire.dialects.v2 import frames, init
from turnwire.dialects.v2.commands import CONNECT
from turnwire.dialects.v2.open_turns import Channel


class Operation:
    """Waits at most `init_s` for `init`, and then at most `verdict_s` for the result."""

    def __init__(self, request: OperationRequest) -> None:
        self.frame_stats = FrameStats()
        self.deadline = NEVER
        self.channel: Channel = (request.channel_type, request.channel_id)
        self._request = request
        self._is_past_init = False
        """Whether `init` came, or did not come in time."""
        self._ahead = init.Ahead()

    def connect_request(self) -> ConnectRequest:
        return CONNECT

    def connection_opened(self, now: float) -> Sequence[bytes]:
        self.deadline = now + self._request.init_s
        return ()

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return init.prepare_frame(raw, self._ahead)

    def receive_frame(self, raw: bytes, now: float) -> Sequence[bytes]:
        frame = frames.read(raw, self.frame_stats)
        if frame is None:
            return ()
        if isinstance(frame, frames.Init):
            entries = self._ahead.take(frame.session)
            if self._is_past_init:
                return ()
            try:
                commands = self._init_received(frame, list(entries))
            except RecursionError:  # nested too deeply, although the frame could be decoded
                self.frame_stats.count_unreadable(raw)
                return ()
            return self._wait_for_result(commands, now)
        self._frame_received(frame)
        return ()

    def tick(self, now: float) -> Sequence[bytes]:
        if now < self.deadline:
            return ()
        if self._is_past_init:
            self._deadline_passed()
            return ()
        return self._wait_for_result(self._init_missing(), now)

    def _wait_for_result(self, commands: Sequence[bytes], now: float) -> Sequence[bytes]:
        """Start to wait for the result. Returns the frames to send, unchanged."""
        self._is_past_init = True
        self.deadline = now + self._request.verdict_s
        return commands

    @abstractmethod
    def _init_received(self, frame: frames.Init, entries: list[init.Entry]) -> Sequence[bytes]:
        """`init` came. Sets `result`, or returns frames to send."""

    @abstractmethod
    def _init_missing(self) -> Sequence[bytes]:
        """No `init` came in time. Sets `result`, or returns frames to send."""

    def _frame_received(self, frame: frames.Read) -> None:
        """A frame other than `init` came. Sets `result` if the frame holds it."""

    def _deadline_passed(self) -> None:
        """No result came in time. Sets `result`."""
