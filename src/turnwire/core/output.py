"""The port for an output protocol: what a client is sent of one turn, as bytes.

A `Turn` gives each event to its `OutputProtocol` and writes the bytes that it returns. The UI
message stream (`core.ui_stream.output`) is one implementation. An implementation knows no dialect
and no transport.
"""

from collections.abc import Sequence
from typing import Protocol

from turnwire.core.events import Event, Question


class OutputProtocol(Protocol):
    """One turn in the form that a client reads. Times are seconds on the caller's clock."""

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """The response headers that say what the form is."""
        ...

    @property
    def keepalive(self) -> bytes:
        """Bytes without a meaning, for a connection that is idle. They are the first bytes too."""
        ...

    @property
    def has_short_texts(self) -> bool:
        """Whether long texts are fed in pieces, since the output makes many small ones of each."""
        ...

    @property
    def has_fixed_steps(self) -> bool:
        """Whether text ends a row of calls even while one of them is open.

        A call that is said to run again is a new call after such an end, else a repetition.
        """
        ...

    @property
    def can_pause(self) -> bool:
        """Whether a turn may end at a request for approval (`is_waiting`, `pause`)."""
        ...

    @property
    def is_waiting(self) -> bool:
        """Whether the turn can only continue after the client answers, in a request of its own."""
        ...

    @property
    def contradicted_chars(self) -> int:
        """How long the final text is that the client is not sent: it was streamed another one."""
        ...

    def feed(self, event: Event, now: float, /) -> bytes:
        """Return the bytes of an event; none if the client is sent nothing for it."""
        ...

    def ask(self, question: Question, now: float, /, *, is_over: bool) -> bytes:
        """Return the bytes of a question.

        `is_over`: later events of the same frame close the question, or ask it again.
        """
        ...

    def feed_texts(self, texts: Sequence[str], now: float, /) -> bytes:
        """Return the bytes of text deltas in a row: the same as `feed` of a `TextDelta` for each.

        A turn has far more text deltas than other events. `texts` is not empty.
        """
        ...

    def pause(self) -> bytes:
        """End the output at its requests for approval."""
        ...

    def fail(self, text: str, /) -> bytes:
        """End the output with an error of the gateway; no bytes if it has ended."""
        ...
