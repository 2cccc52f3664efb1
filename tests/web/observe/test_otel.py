"""Traces: passed on to the agent, told to a collector, and nobody waits for either."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, get, is_whole, new_client, post
from gateway.collector import Collector
from gateway.http_agent import Asked, HttpAgent
from gateway.process import Process
from gateway.reading import App
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from support import ag_ui_frames as f
from support.http_dialect import chunked
from turnwire.relay.agent.http.transport import HttpTransport
from turnwire.relay.agent.port import Transport
from turnwire.relay.agent.websocket import WebSocketTransport
from turnwire.web.observe.otel import OtelTracing
from turnwire_lab.process import free_port

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
SECRETS = ("the-secret", "hunter2", "Bearer", "eyJ")


async def fail(line: Line) -> None:
    if (await line.prompt())["content"].startswith("fail"):
        await line.begin()
        await line.say(frames.finalize(reason="error", error="the-secret"))
    else:
        await talk(line)


async def talk(line: Line) -> None:
    await line.begin()
    tool = frames.running_tool() | {"args": {"password": "hunter2"}}
    await line.say(frames.delta("the-secret"), tool, frames.finalize())


def memory(
    agent_url: str, transport: type[Transport] = WebSocketTransport
) -> tuple[OtelTracing, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    return OtelTracing(agent_url, transport, SimpleSpanProcessor(exporter), exporter), exporter


def named(spans: Sequence[ReadableSpan]) -> dict[str, ReadableSpan]:
    found = {span.name: span for span in spans}
    assert len(found) == len(spans)
    return found


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


CHAT = "POST /api/sessions/{session_id}/chat"


async def test_a_turn_is_a_request_a_dial_a_first_chunk_and_a_turn() -> None:
    async with ScriptedAgent(fail) as agent:
        tracing, exporter = memory(agent.url())
        async with Gateway(agent.url(), tracing=tracing) as gateway:
            headers = {"traceparent": PARENT, "tracestate": "vendor=x", "x-request-id": "r-1"}
            response = await post(gateway, headers=headers, text="the-secret prompt")
            await until(lambda: len(exporter.get_finished_spans()) == 4)
        heard = agent.lines[0].headers

    assert is_whole(response.text)
    spans = named(exporter.get_finished_spans())
    request = spans[CHAT]
    assert request.kind is SpanKind.SERVER
    assert request.parent is not None
    assert (request.parent.trace_id, request.parent.span_id) == (int(TRACE, 16), int(SPAN, 16))
    assert request.parent.is_remote
    assert request.status.status_code is StatusCode.UNSET
    turn_id = frames.TURN
    assert attributes(request) == {
        "http.request.method": "POST",
        "http.route": "/api/sessions/{session_id}/chat",
        "http.response.status_code": 200,
        "turnwire.request_id": "r-1",
        "turnwire.session_id": "s1",
        "turnwire.dialect": "v2",
        "turnwire.outcome": "completed",
    }
    assert attributes(spans["dial"]) == {
        "server.address": "127.0.0.1",
        "server.port": agent.port,
        "network.protocol.name": "websocket",
    }
    told = attributes(spans["turn"])
    assert told.pop("turnwire.bytes_written") == len(response.content)
    assert told == {
        "turnwire.turn_id": turn_id,
        "turnwire.frames": 4,
        "turnwire.outcome": "completed",
    }
    assert request.context is not None
    for name, kind in {
        "dial": SpanKind.CLIENT,
        "first chunk": SpanKind.INTERNAL,
        "turn": SpanKind.INTERNAL,
    }.items():
        child = spans[name]
        assert child.kind is kind
        assert child.parent is not None
        assert child.parent.span_id == request.context.span_id
        assert _within(child, request)
    assert spans["dial"].end_time == spans["first chunk"].start_time
    assert spans["first chunk"].end_time == spans["turn"].start_time, "`start` tells the turn"
    assert heard["traceparent"] == f"00-{TRACE}-{request.context.span_id:016x}-01"
    assert heard["tracestate"] == "vendor=x"
    everything = "".join(span.to_json() for span in spans.values())
    assert not any(secret in everything for secret in (*SECRETS, "u1"))


def _within(child: ReadableSpan, parent: ReadableSpan) -> bool:
    """Clocks of two kinds are compared, so to the millisecond."""
    assert child.start_time is not None
    assert child.end_time is not None
    assert parent.start_time is not None
    assert parent.end_time is not None
    slack = 1_000_000
    return (
        parent.start_time - slack <= child.start_time <= child.end_time <= parent.end_time + slack
    )


async def test_what_fails_is_an_error_with_its_outcome() -> None:
    async with ScriptedAgent(fail) as agent:
        tracing, exporter = memory(agent.url())
        async with Gateway(agent.url(), tracing=tracing) as gateway:
            await post(gateway, text="fail")
            await until(lambda: len(exporter.get_finished_spans()) == 4)
    spans = named(exporter.get_finished_spans())
    for name in (CHAT, "turn"):
        assert spans[name].status.status_code is StatusCode.ERROR
        assert attributes(spans[name])["error.type"] == "failed"
        assert spans[name].status.description is None
    assert spans["dial"].status.status_code is StatusCode.UNSET
    assert spans[CHAT].parent is None


@pytest.mark.parametrize(
    ("status", "reason", "answer"),
    [(None, "connect", 200), (404, "status", 404), (403, "status", 200)],
)
async def test_a_dial_that_fails(status: int | None, reason: str, answer: int) -> None:
    async with ScriptedAgent(status=status) as agent:
        url = agent.url() if status else f"ws://127.0.0.1:{free_port()}/{{session_id}}"
        tracing, exporter = memory(url)
        async with Gateway(url, tracing=tracing) as gateway:
            response = await post(gateway)
            await until(lambda: CHAT in {span.name for span in exporter.get_finished_spans()})

    assert response.status_code == answer
    spans = named(exporter.get_finished_spans())
    assert "turn" not in spans
    dial = spans["dial"]
    assert dial.status.status_code is StatusCode.ERROR
    assert attributes(dial)["error.type"] == reason
    assert attributes(dial).get("http.response.status_code") == status
    assert attributes(spans[CHAT])["http.response.status_code"] == answer
    failed = StatusCode.ERROR if answer == 200 else StatusCode.UNSET
    assert spans[CHAT].status.status_code is failed


async def test_each_request_to_an_agent_over_http_is_a_span() -> None:
    """The second one begins with the answer to a question; both have the trace."""

    async def script(asked: Asked) -> None:
        ids = {name: json.loads(asked.body)[name] for name in ("threadId", "runId")}
        interrupt = {"id": "i1", "reason": "input_required", "message": "the-secret"}
        asks = {"outcome": {"type": "interrupt", "interrupts": [interrupt]}}
        end = asks if len(agent.requests) == 1 else {}
        events = (f.event("RUN_STARTED", **ids), f.event("RUN_FINISHED", **ids, **end))
        await asked.say(chunked(*(b"data: %b\n\n" % event for event in events)))

    async with HttpAgent(script) as agent:
        url = f"http://127.0.0.1:{agent.port}/{{session_id}}/run?key=hunter2"
        tracing, exporter = memory(url, HttpTransport)
        async with Gateway(url, dialect="ag-ui", tracing=tracing) as gateway:
            asking = asyncio.create_task(post(gateway, headers={"traceparent": PARENT}))
            while (await App(gateway).answer("i1", "the-secret")).status_code == 404:
                await asyncio.wait([asking], timeout=0.01)
            response = await asking
            await until(lambda: "turn" in {span.name for span in exporter.get_finished_spans()})
            await until(lambda: CHAT in {span.name for span in exporter.get_finished_spans()})

    assert is_whole(response.text)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    request = {
        "server.address": "127.0.0.1",
        "server.port": agent.port,
        "network.protocol.name": "http",
        "http.request.method": "POST",
        "url.full": f"http://127.0.0.1:{agent.port}/s1/run",
    }
    assert attributes(spans["dial"]) == request
    assert attributes(spans["run"]) == request | {"turnwire.run": 2}
    context = spans[CHAT].context
    assert context is not None
    for name in ("dial", "run"):
        assert _within(spans[name], spans[CHAT])
        assert spans[name].kind is SpanKind.CLIENT
    heard = {asked.headers["traceparent"] for asked in agent.requests}
    assert len(agent.requests) == 2
    assert heard == {f"00-{TRACE}-{context.span_id:016x}-01"}
    everything = "".join(span.to_json() for span in spans.values())
    assert not any(secret in everything for secret in SECRETS)


async def test_what_is_no_turn_has_a_span_of_its_own() -> None:
    async with ScriptedAgent(fail) as agent:
        tracing, exporter = memory(agent.url())
        async with Gateway(agent.url(), tracing=tracing, dial_s=1.5, verdict_s=0.1) as gateway:
            app = App(gateway)
            replies = [
                await app.stop("t1"),
                await app.answer("q1", "yes"),
                await app._call("GET", "messages"),
                await app._call("GET", "chat/c/stream"),
                await get(gateway, "/api/sessions/s1/messages"),
                await get(gateway, "/api/sessions/%20the-secret/messages"),
            ]
            await until(lambda: len(exporter.get_finished_spans()) >= 7)
        heard = [line.headers["traceparent"] for line in agent.lines]

    spans = [span for span in exporter.get_finished_spans() if span.kind is SpanKind.SERVER]
    told = [attributes(span)["http.response.status_code"] for span in spans]
    assert told == [reply.status_code for reply in replies]
    assert [span.name.rpartition("/")[2] for span in spans] == [
        *("stop", "answer", "messages", "stream", "messages", "messages")
    ]
    assert len(set(heard)) == 4
    assert attributes(spans[-1])["error.type"] == "unauthorized"
    assert "the-secret" not in "".join(span.to_json() for span in spans)


@pytest.mark.parametrize(("flags", "sampled"), [("00", False), ("01", True)])
async def test_what_is_not_sampled_is_passed_on_and_not_told(
    flags: str,
    sampled: bool,  # noqa: FBT001 (pytest gives it so)
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    async with ScriptedAgent() as agent:
        tracing, exporter = memory(agent.url())
        async with Gateway(agent.url(), tracing=tracing) as gateway:
            await post(gateway, headers={"traceparent": f"00-{TRACE}-{SPAN}-{flags}"})
            await post(gateway)
            await until(lambda: len(gateway.streams) == 0)
        heard = [line.headers["traceparent"].split("-") for line in agent.lines]

    assert bool(exporter.get_finished_spans()) == sampled
    assert heard[0][1] == TRACE
    assert heard[0][2] != SPAN
    # The other bit that there is says that the SDK made the trace's id at random.
    assert [int(parts[3], 16) & 1 for parts in heard] == [sampled, 0]
    for span in exporter.get_finished_spans():
        assert span.resource.attributes["service.name"] == "mine"


async def test_a_real_collector_gets_the_spans_and_the_log_their_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        async with (
            ScriptedAgent(fail) as agent,
            Process(agent.url(), tracing="otlp") as gateway,
            new_client() as client,
        ):
            url = f"{gateway.url}/api/sessions/s1/chat"
            given = {**bearer(), "traceparent": PARENT}
            response = await client.post(url, json=ask("the-secret"), headers=given)
            assert is_whole(response.text)
            await until(lambda: len(collector.spans) == 4)
            await client.post(url, json=ask("the-secret"), headers=bearer())
            await client.post(url, json=ask("x"), headers={"traceparent": PARENT})
        # The second was under way when the process was told to stop.
        assert len(collector.spans) == 9

    assert set(collector.paths) == {"/v1/traces"}
    first = {span.name: span for span in collector.spans[:4]}
    assert set(first) == {CHAT, "dial", "first chunk", "turn"}
    assert all(span.trace_id.hex() == TRACE for span in first.values())
    assert first[CHAT].parent_span_id.hex() == SPAN
    assert first["turn"].parent_span_id == first[CHAT].span_id
    assert collector.resource["service.name"] == "turnwire"
    assert collector.resource["deployment.environment.name"] == "test"
    assert b"the-secret" not in b"".join(r.SerializeToString() for r in collector.requests)
    ended = gateway.logged("stream ended")
    assert ended[0]["trace_id"] == TRACE
    assert ended[1]["trace_id"] == collector.spans[4].trace_id.hex() != TRACE
    (refused,) = gateway.logged("refused")
    assert refused["trace_id"] == TRACE


@pytest.mark.parametrize("how", ["refuses", "hangs"])
async def test_a_dead_collector_costs_a_line_of_the_log(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    gone = asyncio.Event()
    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = free_port() if how == "refuses" else server.sockets[0].getsockname()[1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
    async with (
        ScriptedAgent() as agent,
        Process(agent.url(), tracing="otlp") as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        for _ in range(20):
            response = await client.post(url, json=ask(), headers=bearer())
            assert is_whole(response.text)
        await until(lambda: "opentelemetry" in gateway.errors)
    gone.set()
    server.close()

    lines = [line for line in gateway.log if line["logger"].startswith("opentelemetry")]
    assert 1 <= len(lines) <= 3, "one of each logger"
    assert len(gateway.logged("stream ended")) == 20
