"""OpenTelemetry: a span for each request, and in a stream's the dial, the turn, the first chunk.

The only importer of `opentelemetry`. Where spans go, and which are kept, the standard `OTEL_*`
variables say. They are sent by a thread of the SDK's, from a bounded queue; a collector that is
not there costs spans, and now and then a line of the log. Nothing is made per frame: the spans of a
stream are made at its end, of the times that were noted on the way.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

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
from turnwire.core import sse
from turnwire.core.act import Act
from turnwire.core.outcome import Outcome
from turnwire.core.overheard import Ear, Input
from turnwire.core.trace_context import TraceContext
from turnwire.relay.stream import Stream
from turnwire.web.recorder import UNREMARKABLE
from turnwire.web.tracing import Trace, Tracing

CLOSE_S: Final = 2.0
"""How long the end of the process waits for spans that are not sent yet."""

_SELDOM_S: Final = 60.0

_CHATTY: Final = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.sdk._shared_internal",
    "opentelemetry.sdk.trace.export",
)
"""Loggers that have a line for each try to reach a collector that is not there."""

_OK: Final = 200
_SERVER_ERROR: Final = 500


class _Seldom(logging.Filter):
    """Lets one line through, and the next one after a while."""

    def __init__(self) -> None:
        super().__init__()
        self._next_at = 0.0

    def filter(self, _record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now < self._next_at:
            return False
        self._next_at = now + _SELDOM_S
        return True


class _FirstChunk:
    """Notes when the first chunk went to the client; comments are none (`core.overheard.Ear`)."""

    at: float | None = None

    def heard(self, what: Input, now: float, frames: Sequence[bytes], count: int) -> None:
        """What comes in is not what is waited for."""

    def did(self, act: Act, now: float) -> None:
        if self.at is None and act.write and act.write != sse.KEEPALIVE:
            self.at = now


class OtelTracing(Tracing):
    """Tells a collector of each request."""

    def __init__(self, agent_url: str, processor: SpanProcessor, exporter: SpanExporter) -> None:
        self._processor, self._exporter = processor, exporter
        named = "OTEL_SERVICE_NAME" in os.environ
        ours = {"service.version": __version__} | ({} if named else {"service.name": "turnwire"})
        # The SDK's own end at exit would wait for a dead collector.
        provider = TracerProvider(resource=Resource.create(ours), shutdown_on_exit=False)
        provider.add_span_processor(processor)
        self._tracer = provider.get_tracer("turnwire", __version__)
        parts = urlsplit(agent_url)
        self._agent: dict[str, str | int] = {
            "server.address": parts.hostname or "",
            "server.port": parts.port or (443 if parts.scheme == "wss" else 80),
            "network.protocol.name": "websocket",
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
        parent = None if context is None else set_span_in_context(NonRecordingSpan(_read(context)))
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

    def begin_child(self, of: Span, name: str, kind: SpanKind, began_ns: int) -> Span:
        """A span of what began then, in nanoseconds of the epoch."""
        return self._tracer.start_span(name, set_span_in_context(of), kind, start_time=began_ns)

    @property
    def agent(self) -> Mapping[str, str | int]:
        """Who is dialled."""
        return self._agent

    def shut(self) -> None:
        """End what was told nothing."""
        self._processor.shutdown()

    async def aclose(self) -> None:
        """Send what is there, for a while."""
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def close() -> None:
            self._processor.shutdown()
            if not loop.is_closed():
                loop.call_soon_threadsafe(done.set)

        # A daemon: it must not keep the process from ending.
        threading.Thread(target=close, name="turnwire-spans", daemon=True).start()
        try:
            async with asyncio.timeout(CLOSE_S):
                await done.wait()
        except TimeoutError:
            self._exporter.shutdown()


class _OtelTrace(Trace):
    def __init__(self, tracing: OtelTracing, span: Span) -> None:
        told = span.get_span_context()
        super().__init__(
            TraceContext(
                f"{told.trace_id:032x}",
                f"{told.span_id:016x}",
                told.trace_flags,
                told.trace_state.to_header(),
            )
        )
        self._tracing = tracing
        self._span = span
        self._first_chunk: _FirstChunk | None = None
        self._is_held = False

    def ears(self) -> Sequence[Ear]:
        if not self._span.is_recording():
            return ()
        self._first_chunk = _FirstChunk()
        return (self._first_chunk,)

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
        if stream.dial_status is not None:
            dial.set_attribute("http.response.status_code", stream.dial_status)
        if stream.dial_failure is not None:
            dial.set_attribute("error.type", stream.dial_failure.value)
            dial.set_status(StatusCode.ERROR)
        dial.end(ns(opened_at))
        if self._first_chunk is not None and self._first_chunk.at is not None:
            first = self._child("first chunk", SpanKind.INTERNAL, ns(opened_at))
            first.end(ns(self._first_chunk.at))
        turn = stream.turn
        if turn.began_at is not None and turn.turn_id is not None:
            told = self._child("turn", SpanKind.INTERNAL, ns(turn.began_at))
            told.set_attribute("turnwire.turn_id", turn.turn_id)
            told.set_attribute("turnwire.frames", turn.frames_heard)
            told.set_attribute("turnwire.bytes_written", stream.bytes_written)
            _judge(told, outcome)
            told.end(ns(ended_at))
        _judge(self._span, outcome)
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

    def hold(self) -> None:
        self._is_held = True

    def end(self) -> None:
        if self._is_held:
            self._is_held = False
        else:
            self._span.end()

    def _child(self, name: str, kind: SpanKind, began_ns: int) -> Span:
        return self._tracing.begin_child(self._span, name, kind, began_ns)


def _judge(span: Span, outcome: Outcome) -> None:
    span.set_attribute("turnwire.outcome", outcome.value)
    if outcome in UNREMARKABLE:
        return
    span.set_attribute("error.type", outcome.value)
    if outcome is not Outcome.REFUSED:  # which is a 4xx, and no server's error
        span.set_status(StatusCode.ERROR)


def _read(context: TraceContext) -> SpanContext:
    return SpanContext(
        int(context.trace_id, 16),
        int(context.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(context.flags),
        trace_state=TraceState.from_header([context.state]),
    )


def otlp(agent_url: str) -> OtelTracing:
    """Tracing to the collector that the `OTEL_*` variables name."""
    for name in _CHATTY:
        logging.getLogger(name).addFilter(_Seldom())
    session = requests.Session()
    session.trust_env = False  # no proxies of the environment, as everywhere here
    exporter = OTLPSpanExporter(session=session)
    return OtelTracing(agent_url, BatchSpanProcessor(exporter), exporter)


def rehearse(agent_url: str) -> None:
    """Read the `OTEL_*` variables, and raise what their libraries raise."""
    otlp(agent_url).shut()
