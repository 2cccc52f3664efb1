"""A `Turn` that reports each input and output to observers.

A stream without observers has a plain `Turn`. Which of the two classes a stream gets is decided
once, at its start.
"""

import enum
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Protocol

from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn


class Input(enum.Enum):
    """The inputs of a turn. The value is the word for the input in a recording."""

    OPENED = "opened"
    UNREACHABLE = "unreachable"
    FRAMES = "frames"
    AGENT_LEFT = "close"
    UNSOUND = "unsound"
    CLIENT_LEFT = "leave"
    CLIENT_STALLED = "stall"
    BLOCKED = "blocked"
    PROGRESSED = "progressed"
    HELD = "held"
    UNBLOCKED = "unblocked"
    DRAIN = "drain"
    TICK = "tick"


class TurnObserver(Protocol):
    """Gets the inputs and outputs of a turn. Its methods must not raise."""

    def on_input(self, kind: Input, now: float, frames: Sequence[bytes], count: int, /) -> None:
        """The turn is about to handle this input.

        `count` is the number of bytes held, for the inputs that carry it.
        """
        ...

    def on_output(self, output: Output, now: float, /) -> None:
        """The turn has returned this output."""
        ...


class ObservedTurn(Turn):
    """A `Turn` with observers."""

    observers: Sequence[TurnObserver] = ()
    _is_nested = False
    """Whether an input is being handled whose implementation calls other inputs."""

    def opened(self, now: float) -> Output:
        self._report_input(Input.OPENED, now)
        return self._report_output(super().opened(now), now)

    def unreachable(self, now: float) -> Output:
        self._report_input(Input.UNREACHABLE, now)
        return self._report_output(super().unreachable(now), now)

    def frames(self, frames: Sequence[bytes], now: float) -> Output:
        self._report_input(Input.FRAMES, now, frames)
        self._is_nested = True
        output = super().frames(frames, now)
        self._is_nested = False
        return self._report_output(output, now)

    def portions(self, frame: bytes, now: float) -> Generator[Output, float | None, None]:
        self._report_input(Input.FRAMES, now, [frame])
        portions = super().portions(frame, now)
        self._is_nested = True
        with suppress(StopIteration):
            output = next(portions)
            while True:
                self._is_nested = False
                now = (yield self._report_output(output, now)) or now
                self._is_nested = True
                output = portions.send(now)
        self._is_nested = False

    def agent_left(self, now: float) -> Output:
        self._report_input(Input.AGENT_LEFT, now)
        return self._report_output(super().agent_left(now), now)

    def unsound(self, now: float) -> Output:
        if self._is_nested:
            return super().unsound(now)
        self._report_input(Input.UNSOUND, now)
        return self._report_output(super().unsound(now), now)

    def client_left(self, now: float, *, stalled: bool = False) -> Output:
        self._report_input(Input.CLIENT_STALLED if stalled else Input.CLIENT_LEFT, now)
        return self._report_output(super().client_left(now, stalled=stalled), now)

    def blocked(self, now: float) -> Output:
        self._report_input(Input.BLOCKED, now)
        return self._report_output(super().blocked(now), now)

    def progressed(self, now: float, held_bytes: int = 0) -> Output:
        self._report_input(Input.PROGRESSED, now, count=held_bytes)
        self._is_nested = True
        output = super().progressed(now, held_bytes)
        self._is_nested = False
        return self._report_output(output, now)

    def held(self, held_bytes: int, now: float) -> Output:
        if self._is_nested:
            return super().held(held_bytes, now)
        self._report_input(Input.HELD, now, count=held_bytes)
        return self._report_output(super().held(held_bytes, now), now)

    def unblocked(self, now: float) -> Output:
        self._report_input(Input.UNBLOCKED, now)
        return self._report_output(super().unblocked(now), now)

    def drain(self, now: float) -> Output:
        self._report_input(Input.DRAIN, now)
        return self._report_output(super().drain(now), now)

    def tick(self, now: float) -> Output:
        self._report_input(Input.TICK, now)
        return self._report_output(super().tick(now), now)

    def _report_input(
        self, kind: Input, now: float, frames: Sequence[bytes] = (), count: int = 0
    ) -> None:
        for observer in self.observers:
            observer.on_input(kind, now, frames, count)

    def _report_output(self, output: Output, now: float) -> Output:
        for observer in self.observers:
            observer.on_output(output, now)
        return output
