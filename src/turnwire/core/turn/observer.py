"""Who gets each input and output of a `Turn`: recordings, the drift monitor, traces."""

from collections.abc import Callable, Sequence
from typing import Protocol

from turnwire.core.turn.inputs import Input
from turnwire.core.turn.output import Output


class TurnObserver(Protocol):
    """Gets the inputs and outputs of a turn. Its methods must not raise."""

    def on_input(self, turn_input: Input, now: float, /) -> None:
        """The turn is about to handle this input."""
        ...

    def on_output(self, output: Output, now: float, /) -> None:
        """The turn has returned this output."""
        ...


def observed(
    observers: Sequence[TurnObserver],
    handle: Callable[[Input, float], Output],
    turn_input: Input,
    now: float,
) -> Output:
    """Return what becomes of an input, and tell the observers both."""
    for observer in observers:
        observer.on_input(turn_input, now)
    output = handle(turn_input, now)
    for observer in observers:
        observer.on_output(output, now)
    return output
