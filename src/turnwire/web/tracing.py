"""Which trace a request belongs to, and what of it is told there.

Here nothing is told: the trace that a request came with is passed on to the agent. `web.otel` has
the tracing that tells.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from turnwire.core.outcome import Outcome
from turnwire.core.overheard import Ear
from turnwire.core.trace_context import TraceContext
from turnwire.relay.stream import Stream


class Trace:
    """One request in its trace. This one passes on what came in."""

    def __init__(self, context: TraceContext | None = None) -> None:
        self._context = context

    @property
    def trace_id(self) -> str | None:
        return None if self._context is None else self._context.trace_id

    @property
    def headers(self) -> Mapping[str, str]:
        """For the agent: whose child its work is."""
        return {} if self._context is None else self._context.headers

    def ears(self) -> Sequence[Ear]:
        """Who listens in on the stream of this request."""
        return ()

    def streamed(self, stream: Stream, outcome: Outcome, dialled_at: float) -> None:
        """Its stream is over, whose dial began then (on the loop's clock)."""

    def admitted(self, session_id: str) -> None:
        """Its user may enter this session."""

    def answered(self, status: int) -> None:
        """It is answered with this status."""

    def refused(self, status: int, code: str) -> None:
        """It is refused with this status."""

    def hold(self) -> None:
        """It is not over before its stream is: `end` is called once more."""

    def end(self) -> None:
        """It is over. What it was not told before stays untold."""


UNTRACED: Final = Trace()


class Tracing:
    """Begins the traces of requests."""

    def begin(
        self,
        context: TraceContext | None,
        *,
        method: str,
        route: str,
        request_id: str,
        dialect: str,
    ) -> Trace:
        """A request came in, with this context."""
        del method, route, request_id, dialect  # nobody is told
        return UNTRACED if context is None else Trace(context)

    async def aclose(self) -> None:
        """Nothing more will be told."""
