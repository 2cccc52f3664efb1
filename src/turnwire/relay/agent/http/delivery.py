"""Give frames to the listener: short ones together, each long one alone, in short steps."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from turnwire.core.bounds import LONG_BYTES
from turnwire.core.wire.census import TooManyError
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.agent.port import Listener
from turnwire.relay.agent.utf8 import check_utf8, is_utf8
from turnwire.relay.memory_budget import Reservation

BATCH: Final = 256
"""Short frames that are delivered together in one step."""


class Delivery:
    """Calls `Listener.agent_frames` and `Listener.agent_long_frame`, with frames in valid UTF-8."""

    __slots__ = ("_listener", "_reservation", "is_over", "problem")

    def __init__(self, listener: Listener, reservation: Reservation) -> None:
        self.is_over = False
        """Set it, and no more frames are delivered."""
        self.problem: DisconnectReason | None = None
        """Why the connection must end now; None: no frame says so."""
        self._listener = listener
        self._reservation = reservation

    def deliver(self, frames: Sequence[bytes]) -> None:
        """Deliver short frames, up to the first one with invalid UTF-8."""
        if all(map(bytes.isascii, frames)):
            self._listener.agent_frames(frames)
            return
        valid = list(itertools.takewhile(is_utf8, frames))
        self._listener.agent_frames(valid)  # also if it is none: the first read opens the turn
        if len(valid) < len(frames):
            self.problem = DisconnectReason.NOT_UTF8

    def in_steps(self, frames: Sequence[bytes]) -> Iterator[None]:
        """Deliver frames of any number and length, up to the first one that is a problem."""
        batch: list[bytes] = []
        for frame in frames:
            is_long = len(frame) > LONG_BYTES
            if batch and (is_long or len(batch) >= BATCH):
                self.deliver(batch)
                batch = []
                yield
            if self.is_over or self.problem is not None:
                return
            if is_long:
                yield from self._deliver_long(frame)
            else:
                batch.append(frame)
        if batch and not self.is_over and self.problem is None:
            self.deliver(batch)

    def _deliver_long(self, frame: bytes) -> Iterator[None]:
        if not self._reservation.set(len(frame)):
            self.problem = DisconnectReason.NO_ROOM
            return
        try:
            if not frame.isascii():
                yield from check_utf8(frame)
            yield from self._listener.agent_long_frame(frame)
        except UnicodeDecodeError:
            self.problem = DisconnectReason.NOT_UTF8
        except TooManyError:
            self.problem = DisconnectReason.UNSOUND
