"""An output protocol that writes nothing: nobody reads the stream, what counts is the agent."""

from collections.abc import Sequence

from turnwire.core.events import Event, Question


class SilentOutput:
    """A `core.output.OutputProtocol`.

    `can_pause`: whether the turn ends where it asks, since an answer begins another request.
    """

    headers = ()
    keepalive = b""
    has_short_texts = False
    has_fixed_steps = False
    contradicted_chars = 0

    def __init__(self, *, can_pause: bool) -> None:
        self.can_pause = can_pause
        self.is_waiting = False

    def feed(self, _event: Event, _now: float) -> bytes:
        return b""

    def ask(self, _question: Question, _now: float, *, is_over: bool) -> bytes:
        self.is_waiting = self.is_waiting or not is_over
        return b""

    def feed_texts(self, _texts: Sequence[str], _now: float) -> bytes:
        return b""

    def pause(self) -> bytes:
        return b""

    def fail(self, _text: str) -> bytes:
        return b""
