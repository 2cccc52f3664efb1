"""The interface of tracing, and its version that sends nothing.

`Tracing.begin` returns a `Trace` for a request. This version passes the trace context of the
request on to the agent. `web.observe.otel` has the version that sends spans.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from turnwire.core.trace_context import TraceContext
from turnwire.core.turn.observer import TurnObserver
from turnwire.core.turn.outcome import Outcome
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.turn_stream import Stream


class Trace:
    """The trace of one request. This version passes the context of the request on."""

    def __init__(self, context: TraceContext | None = None) -> None:
        self._context = context

    @property
    def trace_id(self) -> str | None:
        """The trace id; None if the request has no trace."""
        return None if self._context is None else self._context.trace_id

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers for the agent that name this trace and the parent span."""
        return {} if self._context is None else self._context.headers

    def observers(self, _keepalive: bytes, /) -> Sequence[TurnObserver]:
        """Return the observers of this request's stream. A keepalive is not its first chunk."""
        return ()

    def dialling(self, target: AgentTarget, /) -> None:
        """A connection of this request's stream to the agent is about to be dialled."""

    def streamed(self, stream: Stream, outcome: Outcome, dialled_at: float) -> None:
        """The stream has ended. `dialled_at` is when its dial began, on the loop's clock."""

    def admitted(self, session_id: str) -> None:
        """The user has access to this session."""

    def answered(self, status: int) -> None:
        """The request is answered with this status."""

    def refused(self, status: int, code: str) -> None:
        """The request is refused with this status and error code."""

    def defer_end(self) -> None:
        """Ignore the next `end`: the stream goes on, and calls `end` again when it is over."""

    def end(self) -> None:
        """End the trace. Nothing is added to it later."""


UNTRACED: Final = Trace()


class Tracing:
    """Creates the traces of requests."""

    def begin(
        self,
        context: TraceContext | None,
        *,
        method: str,
        route: str,
        request_id: str,
        dialect: str,
    ) -> Trace:
        """Return the trace of a request that came with this context."""
        del method, route, request_id, dialect  # this version sends nothing
        return UNTRACED if context is None else Trace(context)

    async def aclose(self) -> None:
        """Release the resources. No trace begins later."""
