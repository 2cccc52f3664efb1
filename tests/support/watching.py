"""An observer of a turn that keeps what it gets."""

from turnwire.core.turn.inputs import Input
from turnwire.core.turn.output import Output


class Watching:
    """Has the inputs and outputs of the turns that it observes, with their times."""

    def __init__(self) -> None:
        self.inputs: list[tuple[Input, float]] = []
        self.outputs: list[tuple[Output, float]] = []

    def on_input(self, turn_input: Input, now: float) -> None:
        self.inputs.append((turn_input, now))

    def on_output(self, output: Output, now: float) -> None:
        self.outputs.append((output, now))
