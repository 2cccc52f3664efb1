"""The base of the operations: stop, answer and history begin with `init` on every wire.

A dialect has a subclass that knows its `init`, and each operation is a subclass of that.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from turnwire.core.wire.decoder import Frame, FrameDecoder
from turnwire.core.wire.frame_stats import FrameStats


class Operation(ABC, Generic[Frame]):
    """Waits at most `init_s` for `init`, and then at most `verdict_s` for the agent's reply.

    Times are in seconds. The methods return text frames to send.
    """

    def __init__(self, decoder: FrameDecoder[Frame], init_s: float, verdict_s: float) -> None:
        self.frame_stats = FrameStats()
        self.deadline = math.inf
        self._decoder = decoder
        self._init_s = init_s
        self._verdict_s = verdict_s
        self._is_past_init = False
        """Whether `init` came, or the operation goes on without it."""

    def connection_opened(self, now: float) -> Sequence[bytes]:
        self.deadline = now + self._init_s
        return ()

    def receive_frame(self, raw: bytes, now: float) -> Sequence[bytes]:
        frame = self._decoder.read(raw, self.frame_stats)
        if frame is None:
            return ()
        try:
            return self._handle(frame, now)
        except RecursionError:  # nested too deeply, although the frame could be decoded
            self.frame_stats.count_unreadable(raw)
            return ()

    def tick(self, now: float) -> Sequence[bytes]:
        if now < self.deadline:
            return ()
        return self._reply_missing(now) if self._is_past_init else self._init_missing(now)

    def _send_and_wait(self, frames: Sequence[bytes], now: float) -> Sequence[bytes]:
        """Return frames to send, and set the deadline for the agent's reply."""
        self.deadline = now + self._verdict_s
        return frames

    @abstractmethod
    def _handle(self, frame: Frame, now: float) -> Sequence[bytes]:
        """Handle a frame, `init` or another one."""
        ...

    @abstractmethod
    def _init_missing(self, now: float) -> Sequence[bytes]:
        """No `init` came in time."""
        ...

    @abstractmethod
    def _reply_missing(self, now: float) -> Sequence[bytes]:
        """The deadline after `init` passed."""
        ...
