"""OpenTelemetry: a span for each request; a stream adds spans for dial, first chunk and turn.

The only importer of `opentelemetry`. The standard `OTEL_*` variables name the collector and the
sampling. A thread of the SDK sends the spans, from a bounded queue. If the collector is not
reachable, spans are lost, and the log gets a line once a minute. A frame creates no span: the spans
of a stream are created at its end, from times that were noted before.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    TraceState,
    set_span_in_context,
)

from turnwire import __version__
from turnwire.core.trace_context import TraceContext
from turnwire.core.turn.inputs import Input
from turnwire.core.turn.observer import TurnObserver
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.relay.agent.port import AgentTarget, Transport, address_of
from turnwire.relay.turn_stream import Stream
from turnwire.web.observe.flight_recorder import UNREMARKABLE
from turnwire.web.observe.tracing import Trace, Tracing

CLOSE_S: Final = 2.0
"""How long the end of the process waits for unsent spans, in seconds."""

_INTERVAL_S: Final = 60.0

_NOISY_LOGGERS: Final = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.sdk._shared_internal",
    "opentelemetry.sdk.trace.export",
)
"""Loggers that write a line for each failed attempt to reach the collector."""

_OK: Final = 200
_SERVER_ERROR: Final = 500


class _OnceAMinute(logging.Filter):
    """Passes one line in each interval."""

    def __init__(self) -> None:
        super().__init__()
        self._next_at = 0.0

    def filter(self, _record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now < self._next_at:
            return False
        self._next_at = now + _INTERVAL_S
        return True


class _FirstChunk:
    """A `TurnObserver` that notes when the first chunk went out. A keepalive is no chunk."""

    at: float | None = None

    def __init__(self, keepalive: bytes) -> None:
        self._keepalive = keepalive

    def on_input(self, turn_input: Input, now: float) -> None:
        """Ignore inputs: the first chunk is an output."""

    def on_output(self, output: Output, now: float) -> None:
        if self.at is None and output.to_client and output.to_client != self._keepalive:
            self.at = now


class OtelTracing(Tracing):
    """Sends a trace of each request to a collector."""

    def __init__(
        self,
        agent_url: str,
        transport: type[Transport],
        processor: SpanProcessor,
        exporter: SpanExporter,
    ) -> None:
        self._processor, self._exporter = processor, exporter
        is_named = "OTEL_SERVICE_NAME" in os.environ
        resource = {"service.version": __version__} | (
            {} if is_named else {"service.name": "turnwire"}
        )
        # The SDK's own shutdown at exit would wait for a collector that is not reachable.
        provider = TracerProvider(resource=Resource.create(resource), shutdown_on_exit=False)
        provider.add_span_processor(processor)
        self._tracer = provider.get_tracer("turnwire", __version__)
        address = address_of(agent_url, transport.scheme)
        self._is_http = transport.status_is_answer
        self._agent: dict[str, str | int] = {
            "server.address": address.host,
            "server.port": address.port,
            "network.protocol.name": transport.name,
        }

    def begin(
        self,
        context: TraceContext | None,
        *,
        method: str,
        route: str,
        request_id: str,
        dialect: str,
    ) -> Trace:
        parent = (
            None
            if context is None
            else set_span_in_context(NonRecordingSpan(_span_context(context)))
        )
        span = self._tracer.start_span(
            f"{method} {route}",
            parent,
            SpanKind.SERVER,
            {
                "http.request.method": method,
                "http.route": route,
                "turnwire.request_id": request_id,
                "turnwire.dialect": dialect,
            },
        )
        return _OtelTrace(self, span)

    def begin_child(self, parent: Span, name: str, kind: SpanKind, began_ns: int) -> Span:
        """Return a span that began at `began_ns`, in nanoseconds since the epoch."""
        return self._tracer.start_span(name, set_span_in_context(parent), kind, start_time=began_ns)

    @property
    def agent(self) -> Mapping[str, str | int]:
        """Span attributes of the agent's address."""
        return self._agent

    def request_attributes(self, target: AgentTarget) -> Mapping[str, str]:
        """Span attributes of a request over HTTP: its URL without user, query and fragment."""
        if not self._is_http:
            return {}
        parts = urlsplit(target.url)
        url = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
        return {"http.request.method": target.method, "url.full": urlunsplit(url)}

    def shutdown(self) -> None:
        """End the span processor. For a tracing that has no spans to send."""
        self._processor.shutdown()

    async def aclose(self) -> None:
        """Send the spans that are left, for at most `CLOSE_S` seconds."""
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def close() -> None:
            self._processor.shutdown()
            if not loop.is_closed():
                loop.call_soon_threadsafe(done.set)

        # A daemon thread: it must not delay the end of the process.
        threading.Thread(target=close, name="turnwire-spans", daemon=True).start()
        try:
            async with asyncio.timeout(CLOSE_S):
                await done.wait()
        except TimeoutError:
            self._exporter.shutdown()


class _OtelTrace(Trace):
    def __init__(self, tracing: OtelTracing, span: Span) -> None:
        context = span.get_span_context()
        super().__init__(
            TraceContext(
                f"{context.trace_id:032x}",
                f"{context.span_id:016x}",
                context.trace_flags,
                context.trace_state.to_header(),
            )
        )
        self._tracing = tracing
        self._span = span
        self._first_chunk: _FirstChunk | None = None
        self._dials: list[tuple[float, Mapping[str, str]]] = []
        """When each connection to the agent was dialled, on the loop's clock, and its request."""
        self._is_end_deferred = False

    def observers(self, keepalive: bytes, /) -> Sequence[TurnObserver]:
        if not self._span.is_recording():
            return ()
        self._first_chunk = _FirstChunk(keepalive)
        return (self._first_chunk,)

    def dialling(self, target: AgentTarget, /) -> None:
        if self._span.is_recording():
            at = asyncio.get_running_loop().time()
            self._dials.append((at, self._tracing.request_attributes(target)))

    def streamed(self, stream: Stream, outcome: Outcome, dialled_at: float) -> None:
        if not self._span.is_recording():
            return
        ended_at = asyncio.get_running_loop().time()
        epoch = time.time() - ended_at

        def ns(at: float) -> int:
            return int((epoch + at) * 1e9)

        took_s = stream.dial_took_s
        opened_at = ended_at if took_s is None else dialled_at + took_s
        dial = self._child("dial", SpanKind.CLIENT, ns(dialled_at))
        dial.set_attributes(self._tracing.agent)
        for _, attributes in self._dials[:1]:
            dial.set_attributes(attributes)
        if stream.dial_status is not None:
            dial.set_attribute("http.response.status_code", stream.dial_status)
        if stream.dial_failure is not None:
            dial.set_attribute("error.type", stream.dial_failure.value)
            dial.set_status(StatusCode.ERROR)
        dial.end(ns(opened_at))
        if self._first_chunk is not None and self._first_chunk.at is not None:
            first = self._child("first chunk", SpanKind.INTERNAL, ns(opened_at))
            first.end(ns(self._first_chunk.at))
        later = self._dials[1:]
        ends = [*(at for at, _ in later[1:]), ended_at]
        for number, ((at, attributes), end) in enumerate(zip(later, ends, strict=False), 2):
            run = self._child("run", SpanKind.CLIENT, ns(at))
            run.set_attributes({**self._tracing.agent, **attributes, "turnwire.run": number})
            run.end(ns(end))
        turn = stream.turn
        if turn.began_at is not None and turn.turn_id is not None:
            turn_span = self._child("turn", SpanKind.INTERNAL, ns(turn.began_at))
            turn_span.set_attribute("turnwire.turn_id", turn.turn_id)
            turn_span.set_attribute("turnwire.frames", turn.frames_received)
            turn_span.set_attribute("turnwire.bytes_written", stream.bytes_written)
            _set_outcome(turn_span, outcome)
            turn_span.end(ns(ended_at))
        _set_outcome(self._span, outcome)
        if stream.started:
            self.answered(_OK)

    def admitted(self, session_id: str) -> None:
        self._span.set_attribute("turnwire.session_id", session_id)

    def answered(self, status: int) -> None:
        self._span.set_attribute("http.response.status_code", status)

    def refused(self, status: int, code: str) -> None:
        self.answered(status)
        self._span.set_attribute("error.type", code)
        if status >= _SERVER_ERROR:
            self._span.set_status(StatusCode.ERROR)

    def defer_end(self) -> None:
        self._is_end_deferred = True

    def end(self) -> None:
        if self._is_end_deferred:
            self._is_end_deferred = False
        else:
            self._span.end()

    def _child(self, name: str, kind: SpanKind, began_ns: int) -> Span:
        return self._tracing.begin_child(self._span, name, kind, began_ns)


def _set_outcome(span: Span, outcome: Outcome) -> None:
    span.set_attribute("turnwire.outcome", outcome.value)
    if outcome in UNREMARKABLE:
        return
    span.set_attribute("error.type", outcome.value)
    if outcome is not Outcome.REFUSED:  # a 4xx is not an error of the server
        span.set_status(StatusCode.ERROR)


def _span_context(context: TraceContext) -> SpanContext:
    return SpanContext(
        int(context.trace_id, 16),
        int(context.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(context.flags),
        trace_state=TraceState.from_header([context.state]),
    )


def otlp(agent_url: str, transport: type[Transport]) -> OtelTracing:
    """Return a tracing that sends to the collector of the `OTEL_*` variables."""
    for name in _NOISY_LOGGERS:
        logging.getLogger(name).addFilter(_OnceAMinute())
    session = requests.Session()
    session.trust_env = False  # no proxies from the environment, as everywhere in the gateway
    exporter = OTLPSpanExporter(session=session)
    return OtelTracing(agent_url, transport, BatchSpanProcessor(exporter), exporter)


def check_variables(agent_url: str, transport: type[Transport]) -> None:
    """Read the `OTEL_*` variables, and raise the errors of the libraries."""
    otlp(agent_url, transport).shutdown()
