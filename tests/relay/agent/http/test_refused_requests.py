"""Responses that are no stream of events, before the time of the dial has passed and after it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from gateway.clients import (
    chatting,
    errors,
    post,
    said,
)
from gateway.http_agent import (
    Asked,
    HttpAgent,
    answers,
    gateway_of,
)
from gateway.running import Gateway
from gateway.tokens import bearer
from support.http_dialect import (
    END,
    HEAD,
    WHOLE,
    HttpDialect,
    chunked,
    sized,
)
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.http import exchange

pytestmark = pytest.mark.sockets

REFUSED = "The agent refused the request"


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (sized(WHOLE, HEAD.replace(b"event-stream", b"html")), "content_type"),
        (sized(b"{}", b"HTTP/1.1 200 OK\r\n"), "content_type"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "content_type"),
        (sized(WHOLE, HEAD + b"content-encoding: gzip\r\n"), "content_encoding"),
        (HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n" + END, "content_encoding"),
        (
            b"HTTP/1.1 302 Found\r\nlocation: http://elsewhere/\r\ncontent-length: 0\r\n\r\n",
            "redirect",
        ),
        (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "handshake"),
        (b"SSH-2.0-OpenSSH\r\n", "handshake"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000, "handshake"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 1_000 + b"\r\n", "handshake"),
    ],
)
@pytest.mark.fault(
    "an HTTP agent answers with garbage, a redirect, another content type, or compressed",
    "“Connection failed”; a redirect is not followed",
)
async def test_a_response_that_is_no_stream_of_events(
    response: bytes, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with HttpAgent(answers(response)) as agent, gateway_of(agent) as gateway:
        answer = await post(gateway)
        assert gateway.counted("turnwire_dial_failures_total", reason=reason) == 1
        await gateway.has_ended("unreachable")

    assert answer.status_code == 200
    assert errors(answer.text) == ["Connection failed"]
    assert len(agent.requests) == 1
    if reason.startswith(("content", "redirect")):
        assert "the agent refused the request" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("status", "forwarded", "of_the_gateway"),
    [
        *((401, 401, 503), (403, 404, 503), (404, 404, 503), (429, 503, 503), (503, 503, 503)),
        *((529, 503, 503), (400, 200, 200), (402, 200, 200), (422, 200, 200), (500, 200, 200)),
        (502, 200, 200),
    ],
)
@pytest.mark.parametrize("auth", ["forward", "service"])
@pytest.mark.fault(
    "an HTTP agent answers with 4xx or 5xx",
    "401 for 401; 404 for 403 and 404; 503 for 429, 503 and 529, and for all of these with the "
    "gateway's own token; else “The agent refused the request”; never tried again",
)
async def test_a_request_that_the_agent_refuses(
    status: int, forwarded: int, of_the_gateway: int, auth: str
) -> None:
    response = sized(b'{"detail":"no"}', b"HTTP/1.1 %d No\r\nretry-after: 77\r\n" % status)
    token = {"agent_token": "t", "insecure": "true"} if auth == "service" else {}
    async with (
        HttpAgent(answers(response)) as agent,
        gateway_of(agent, agent_auth=auth, **token) as gateway,
    ):
        answer = await post(gateway)
        assert gateway.counted("turnwire_dial_failures_total", reason="status") == 1
        await gateway.has_ended("agent_refused" if forwarded == 200 else "refused")

    assert answer.status_code == (forwarded if auth == "forward" else of_the_gateway)
    assert len(agent.requests) == 1
    if forwarded == 200:
        assert errors(answer.text) == [REFUSED]
    elif answer.status_code == 503:
        assert answer.json()["code"] == "unavailable"
        assert answer.headers["retry-after"] == "77"
    assert "detail" not in answer.text


async def test_the_body_of_a_refusal_is_logged_without_our_secrets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def script(asked: Asked) -> None:
        echo = asked.headers["authorization"].encode()
        await asked.say(b"HTTP/1.1 500 No\r\n\r\n", b"because of " + echo, b" and more")
        asked.close()

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        answer = await post(gateway, headers=(mine := bearer()))

    log = capsys.readouterr().out
    assert errors(answer.text) == [REFUSED]
    assert "because of Bearer xxxxxxxx" in log
    assert mine["authorization"].split()[1] not in log
    assert agent.requests[0].headers["authorization"] == mine["authorization"]


async def test_a_refusal_whose_body_does_not_end_is_told_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "EXCERPT_S", 0.05)
    head = b"HTTP/1.1 503 No\r\ncontent-length: 100\r\n\r\nsoon"
    async with HttpAgent(answers(head)) as agent, gateway_of(agent, dial_s=600) as gateway:
        answer = await post(gateway)
        await agent.all_left()

    assert answer.status_code == 503


async def test_a_refusal_with_an_endless_body_is_told_at_once() -> None:
    head = b"HTTP/1.1 400 No\r\n\r\n" + b"x" * 20_000
    async with HttpAgent(answers(head)) as agent, gateway_of(agent) as gateway:
        answer = await post(gateway)
        await agent.all_left()

    assert errors(answer.text) == [REFUSED]


async def test_the_head_may_come_after_the_time_of_the_dial() -> None:
    headers_out = asyncio.Event()

    async def script(asked: Asked) -> None:
        await headers_out.wait()
        await asked.say(chunked(WHOLE))

    async with HttpAgent(script) as agent, gateway_of(agent, dial_s=0.1) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees(": keepalive")
            headers_out.set()
            body = (await chat.end()).decode()
        await gateway.has_ended("completed")
        assert gateway.counted("turnwire_agent_heads_late_total") == 1

    assert said(body) == "Hello world"


@pytest.mark.parametrize(
    ("response", "text", "outcome"),
    [
        (
            b"HTTP/1.1 429 No\r\ncontent-length: 0\r\n\r\n",
            "The agent refused the request",
            "agent_refused",
        ),
        (
            b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n",
            "The agent refused the request",
            "agent_refused",
        ),
        (sized(b"", HEAD.replace(b"event-stream", b"html")), "Connection failed", "unreachable"),
        (b"", "Connection failed", "unreachable"),
    ],
)
async def test_a_refusal_after_that_is_an_error_in_the_stream(
    response: bytes, text: str, outcome: str
) -> None:
    headers_out = asyncio.Event()

    async def script(asked: Asked) -> None:
        await headers_out.wait()
        await asked.say(response)
        asked.half_close()

    async with HttpAgent(script) as agent, gateway_of(agent, dial_s=0.1) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees(": keepalive")
            headers_out.set()
            body = (await chat.end()).decode()
        await gateway.has_ended(outcome)

    assert errors(body) == [text]


@pytest.mark.fault(
    "an HTTP agent never answers",
    "keepalives after `TURNWIRE_DIAL_S`, “Agent stopped responding” after `TURNWIRE_IDLE_S`",
)
async def test_a_head_that_never_comes_is_silence() -> None:
    async def script(asked: Asked) -> None:
        await asked.is_left()

    async with HttpAgent(script) as agent, gateway_of(agent, dial_s=0.1, idle_s=0.3) as gateway:
        answer = await post(gateway)
        await gateway.has_ended("silent")

    assert errors(answer.text) == ["Agent stopped responding"]


async def test_a_server_that_accepts_no_connection_is_given_up_in_the_time_of_the_dial() -> None:
    async with full_server() as port:
        url = f"http://127.0.0.1:{port}/{{session_id}}"
        async with Gateway(url, dialect=HttpDialect.name, dial_s=0.2) as gateway:
            answer = await post(gateway)
            assert gateway.counted("turnwire_dial_failures_total", reason="timeout") == 1

    assert errors(answer.text) == ["Connection failed"]


@asynccontextmanager
async def full_server() -> AsyncIterator[int]:
    """A server whose queue of connections is full, so that it answers no further one."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)  # noqa: FBT003 (the library's)
            with suppress(BlockingIOError):
                one.connect(address)
        try:
            yield address[1]
        finally:
            for one in waiting:
                one.close()
