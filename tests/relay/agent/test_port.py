"""A second transport and a dialect for it, end to end: each is one module and one line of a table.

The agent is a real server on a real socket, and the gateway is the whole one.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import msgspec
import pytest

import turnwire
from gateway.clients import (
    SMALL_BUFFER,
    RawClient,
    ask,
    chatting,
    errors,
    is_whole,
    new_client,
    outline,
    post,
    said,
)
from gateway.running import Gateway, settings
from gateway.tokens import bearer
from gateway.waiting import closed, until
from support.framed_transport import LENGTH_BYTES, FramedTransport, RequestHead, framed
from support.posting_dialect import OFFERED, OWN_HEADERS, Begun, Over, Posting, Stopped, Text
from turnwire.core.connect import is_reserved
from turnwire.dialects import DIALECTS
from turnwire.errors import SettingsError
from turnwire.relay.agent.port import Scheme, address_of
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.relay.agent.websocket import WebSocketTransport

pytestmark = pytest.mark.sockets

MIB = 1_048_576
SOURCE = Path(turnwire.__file__).parent


@pytest.fixture(autouse=True)
def in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Posting.name, Posting())
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)


class Request:
    """What the agent got on one connection, and its way to answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.head: RequestHead | None = None
        self.body = b""
        self.frames: list[bytes] = []
        self.has_left = False

    async def read_head(self) -> RequestHead:
        self.head = msgspec.json.decode(await self._piece(), type=RequestHead)
        return self.head

    async def read_body(self) -> None:
        self.body = await self._piece()

    async def read_frame(self) -> None:
        self.frames.append(await self._piece())

    async def read_frames(self) -> None:
        try:
            while True:
                await self.read_frame()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.has_left = True

    async def accept(self, status: int = 200) -> None:
        await self._write(b"%d" % status)

    async def say(self, *frames: msgspec.Struct) -> None:
        for frame in frames:
            await self._write(msgspec.json.encode(frame))

    def leave(self) -> None:
        self._writer.transport.abort()

    async def _piece(self) -> bytes:
        size = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
        return await self._reader.readexactly(size)

    async def _write(self, data: bytes) -> None:
        self._writer.write(framed(data))
        await self._writer.drain()


Script = Callable[[Request], Awaitable[None]]


async def whole_turn(request: Request) -> None:
    await request.read_body()
    await request.accept()
    await request.say(Begun("t1"), Text("Hello"), Text(" world"), Over())


class Agent:
    """A server of this transport, which runs one script for each request."""

    def __init__(self, script: Script = whole_turn) -> None:
        self._script = script
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return f"framed://127.0.0.1:{self.port}/api/{{session_id}}?role=client"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for request in self.requests:
            request.leave()
        self._server.close()
        await self._server.wait_closed()
        await closed(self.port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = Request(reader, writer)
        self.requests.append(request)
        try:
            await request.read_head()
            await self._script(request)
            await request.read_frames()
        except (asyncio.IncompleteReadError, ConnectionError):
            request.has_left = True
        finally:
            writer.close()


def gateway_of(agent: Agent, **more: Any) -> Gateway:
    return Gateway(agent.url, dialect="posting", **more)


async def call(gateway: Gateway, method: str, route: str, body: object = None) -> httpx.Response:
    url = f"{gateway.url}/api/sessions/s1/{route}"
    async with new_client() as client:
        return await client.request(method, url, json=body, headers=bearer())


async def test_a_turn_whose_prompt_is_the_body_of_the_request() -> None:
    async with Agent() as agent, gateway_of(agent) as gateway:
        response = await post(gateway, text="what now?", headers=(mine := bearer()))

    (request,) = agent.requests
    assert is_whole(response.text)
    assert said(response.text) == "Hello world"
    assert msgspec.json.decode(request.body) == {"prompt": "what now?", "files": []}
    assert request.frames == []
    assert request.head is not None
    assert request.head.method == "POST"
    assert request.head.url == f"framed://127.0.0.1:{agent.port}/api/s1/runs?role=client"
    assert request.head.offered_protocols == list(OFFERED)
    headers = request.head.headers
    assert headers.items() >= OWN_HEADERS.items()
    assert headers["authorization"] == mine["authorization"]
    assert headers["x-request-id"] == response.headers["x-request-id"]


@pytest.mark.parametrize(
    "auth", [{"agent_auth": "none"}, {"agent_auth": "service", "agent_token": "t"}, {}]
)
async def test_all_that_the_gateway_adds_is_reserved(auth: dict[str, str]) -> None:
    trace = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "tracestate": "a=b"}
    async with Agent() as agent, gateway_of(agent, **auth, insecure="true") as gateway:
        await post(gateway, headers=bearer() | trace)

    (request,) = agent.requests
    assert request.head is not None
    added = request.head.headers.keys() - OWN_HEADERS
    assert added >= {"user-agent", "x-request-id", *trace}
    assert [name for name in added if not is_reserved(name)] == []


async def test_an_operation_is_a_request_and_frames_both_ways() -> None:
    async def stops(request: Request) -> None:
        await request.read_body()
        await request.accept()
        await request.read_frame()
        await request.say(Stopped("t7"))

    async with Agent(stops) as agent, gateway_of(agent) as gateway:
        response = await call(gateway, "POST", "stop", {"turnId": "t7"})
        (request,) = agent.requests
        await until(lambda: request.has_left)

    assert response.status_code == 200
    assert response.json() | {"waitedMs": 0} == {
        "stopped": True,
        "turnId": "t7",
        "reason": "stopped",
        "waitedMs": 0,
    }
    assert request.frames == [b'{"type":"stop"}']
    assert request.head is not None
    assert request.head.method == "DELETE"
    assert request.head.url.endswith("/api/s1/runs/t7?role=client")
    assert request.body == b""


class Misplaced(Posting):
    """A wire whose prompt is a body, on a transport that has none."""

    name = "misplaced"
    transport = WebSocketTransport.name


@pytest.mark.parametrize(("route", "body"), [("chat", ask()), ("stop", {"turnId": "t7"})])
async def test_a_request_that_its_transport_cannot_send_is_not_dialled(
    route: str, body: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(DIALECTS, Misplaced.name, Misplaced())
    async with Agent() as agent:
        url = f"ws://127.0.0.1:{agent.port}/{{session_id}}"
        async with Gateway(url, dialect=Misplaced.name) as gateway:
            response = await call(gateway, "POST", route, body)

    assert response.status_code == 500
    assert "a WebSocket is opened by a GET without a body" in capsys.readouterr().out
    assert agent.requests == []


@pytest.mark.parametrize(
    ("method", "route", "body"),
    [
        ("POST", "answer", {"questionId": "q1", "answer": 1}),
        ("GET", "messages", None),
        ("GET", "chat/c1/stream", None),
        (
            "POST",
            "chat",
            {
                "id": "chat-1",
                "messages": [
                    {
                        "id": "t1",
                        "role": "assistant",
                        "parts": [
                            {
                                "type": "tool-run",
                                "toolCallId": "c1",
                                "state": "approval-responded",
                                "input": {},
                                "approval": {"id": "q1", "approved": True},
                            }
                        ],
                    }
                ],
            },
        ),
    ],
    ids=["answer", "messages", "resume", "continue"],
)
async def test_what_the_wire_lacks_is_refused_without_a_dial(
    method: str, route: str, body: Any
) -> None:
    async with Agent() as agent, gateway_of(agent, turn_log="off") as gateway:
        response = await call(gateway, method, route, body)

    assert response.status_code == 501, response.text
    assert response.json()["code"] == "not_supported"
    assert agent.requests == []


async def test_the_document_says_that_a_resume_is_a_501() -> None:
    async with (
        Agent() as agent,
        gateway_of(agent, turn_log="off") as gateway,
        new_client() as client,
    ):
        document = (await client.get(f"{gateway.url}/openapi.json")).json()

    path = "/api/sessions/{session_id}/chat/{chat_id}/stream"
    assert "501" in document["paths"][path]["get"]["responses"]


@pytest.mark.parametrize(("status", "answered"), [(401, 401), (404, 404), (500, 200)])
async def test_a_request_that_the_agent_refuses(status: int, answered: int) -> None:
    async def refuses(request: Request) -> None:
        await request.accept(status)

    async with Agent(refuses) as agent, gateway_of(agent) as gateway:
        response = await post(gateway)
        assert gateway.counted("turnwire_dial_failures_total", reason="status") == 1

    assert response.status_code == answered
    assert answered != 200 or errors(response.text) == ["Connection failed"]


async def test_an_agent_that_never_answers_is_given_up() -> None:
    async with Agent(Request.read_body) as agent, gateway_of(agent, dial_s=0.2) as gateway:
        response = await post(gateway)
        await until(lambda: agent.requests[0].has_left)
        assert gateway.counted("turnwire_dial_failures_total", reason="timeout") == 1

    assert errors(response.text) == ["Connection failed"]


async def test_an_agent_that_leaves_in_mid_turn() -> None:
    async def leaves(request: Request) -> None:
        await request.accept()
        await request.say(Begun("t1"), Text("Hel"))
        request.leave()

    async with Agent(leaves) as agent, gateway_of(agent) as gateway:
        response = await post(gateway)

    assert said(response.text) in {"Hel", ""}, "a reset may overtake what was sent"
    assert errors(response.text) == ["Stream interrupted"]
    assert outline(response.text)[-1] == "finish"


async def stays(request: Request) -> None:
    await request.read_body()
    await request.accept()
    await request.say(Begun("t1"), Text("Hello"))


async def test_the_close_of_the_connection_is_the_abort() -> None:
    async with Agent(stays) as agent, gateway_of(agent) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
        await until(lambda: agent.requests[0].has_left)

    assert agent.requests[0].frames == []


async def test_a_prompt_that_is_a_body_is_held_until_the_agent_took_it() -> None:
    """The prompt has left the gateway with the request: only what the kernel lacks is held."""
    file = {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PNG}"}
    parts: Sequence[object] = [{"type": "text", "text": "look"}, file]
    body = ask() | {"messages": [{"id": "m1", "role": "user", "parts": parts}]}
    async with (
        Agent(stays) as agent,
        gateway_of(agent, idle_s=600) as gateway,  # it does not end meanwhile
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        async with client.stream("POST", url, json=body, headers=bearer()) as response:
            data = response.aiter_raw()
            while b"t1" not in await anext(data):
                pass

            await until(lambda: gateway.dialler.budget.held_bytes == 0)

            assert len(agent.requests[0].body) > MIB
            assert not agent.requests[0].has_left


PNG = "iVBORw0KGgoAAAANSUhEUg" + "A" * (MIB + 2)


class Flood:
    """An agent that says 50 KB after 50 KB, each when the one before is taken."""

    def __init__(self, count: int) -> None:
        self.text = "x" * 50_000
        self.count, self.sent = count, 0

    async def __call__(self, request: Request) -> None:
        await request.read_body()
        await request.accept()
        await request.say(Begun("t1"))
        for _ in range(self.count):
            await request.say(Text(self.text))
            self.sent += 1
        await request.say(Over())

    async def is_stuck(self) -> None:
        """Wait until the agent gets nothing off any more."""
        before = -1
        while before != self.sent:
            before = self.sent
            await asyncio.sleep(0.15)


async def all_of(client: RawClient) -> AsyncIterator[bytes]:
    while data := await client.read(MIB):
        yield data


async def test_the_agent_of_a_client_that_does_not_read_is_paused_and_resumed() -> None:
    flood = Flood(400)
    async with (
        Agent(flood) as agent,
        gateway_of(agent, stall_s=30) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat(connection="close")
        await flood.is_stuck()
        assert 0 < flood.sent < flood.count
        assert gateway.dialler.budget.held_bytes < 2 * MIB

        body = b"".join([data async for data in all_of(client)])

        assert flood.sent == flood.count
        assert body.count(b"x" * len(flood.text)) == flood.count
        assert b"data: [DONE]" in body
        await gateway.has_ended("completed")


async def test_a_client_that_goes_on_reading_nothing_is_cut_and_its_agent_left() -> None:
    flood = Flood(400)
    async with (
        Agent(flood) as agent,
        gateway_of(agent, stall_s=1) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await until(lambda: bool(agent.requests) and agent.requests[0].has_left)

        assert flood.sent < flood.count
        await gateway.has_ended("slow_client")
        assert b"[DONE]" not in await client.read_all()


def test_no_word_of_a_transport_stands_above_the_port() -> None:
    above = [SOURCE / "relay" / "turn_stream.py", SOURCE / "relay" / "agent_call.py"]
    above += [path for room in ("core", "web") for path in (SOURCE / room).rglob("*.py")]
    words = re.compile(r"web ?socket|sub-?protocol|\bwss?:", re.IGNORECASE)

    assert [path.name for path in above if words.search(path.read_text())] == []


def test_a_url_of_another_transport_is_a_settings_error() -> None:
    with pytest.raises(SettingsError) as refused:
        settings("ws://127.0.0.1:1/{session_id}", dialect="posting")

    assert refused.value.problems == [
        (
            "TURNWIRE_AGENT_URL: must start with framed:// or frameds://, not ws://,"
            " for TURNWIRE_DIALECT=posting"
        )
    ]


def test_files_for_tls_do_nothing_without_it() -> None:
    with pytest.raises(SettingsError) as refused:
        settings("framed://127.0.0.1:1/{session_id}", dialect="posting", agent_ca_file="/dev/null")

    assert (
        "TURNWIRE_AGENT_CA_FILE: does nothing without a frameds: URL in TURNWIRE_AGENT_URL"
        in refused.value.problems
    )


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("framed://h/x", ("h", 70, False)),
        ("frameds://h/x", ("h", 71, True)),
        ("frameds://h:9/x", ("h", 9, True)),
        ("framed://[::1]:9/x", ("::1", 9, False)),
    ],
)
def test_where_a_url_leads(url: str, address: tuple[str, int, bool]) -> None:
    found = address_of(url, Scheme("framed", 70, 71))

    assert (found.host, found.port, found.is_tls) == address
