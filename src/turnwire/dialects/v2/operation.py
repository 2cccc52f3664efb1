"""The base class of the operations of the `v2` dialect: stop, answer, history.

Each operation waits for `init` first. A subclass implements `_init_received` and
`_without_init`; one that sends a frame also implements `_frame_received` and
`_no_reply`, to wait for the result.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import OperationRequest
from turnwire.core.wire import operation
from turnwire.dialects.v2 import frames, init
from turnwire.dialects.v2.commands import CONNECT


class Operation(operation.Operation[frames.Read]):
    """Goes on without `init` if none comes in time: not every agent sends it."""

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
            self._frame_received(frame)
            return ()
        entries = self._ahead.take(frame.session)
        if self._is_past_init:
            return ()
        return self._begin(self._init_received(frame, list(entries)), now)

    def _init_missing(self, now: float) -> Sequence[bytes]:
        return self._begin(self._without_init(), now)

    def _reply_missing(self, _now: float) -> Sequence[bytes]:
        self._no_reply()
        return ()

    def _begin(self, to_send: Sequence[bytes], now: float) -> Sequence[bytes]:
        """Start to wait for the result. Returns the frames to send."""
        self._is_past_init = True
        return self._send_and_wait(to_send, now)

    @abstractmethod
    def _init_received(self, frame: frames.Init, entries: list[init.Entry]) -> Sequence[bytes]:
        """`init` came. Sets `result`, or returns frames to send."""

    @abstractmethod
    def _without_init(self) -> Sequence[bytes]:
        """No `init` came in time. Sets `result`, or returns frames to send."""

    def _frame_received(self, frame: frames.Read) -> None:
        """A frame other than `init` came. Sets `result` if the frame holds it."""

    def _no_reply(self) -> None:
        """No result came in time. Sets `result`."""
