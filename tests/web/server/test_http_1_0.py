"""Requests of HTTP/1.0: answered without chunks, and the connection ends with the answer."""

import json

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import RawClient, ask, is_whole, request, said
from gateway.running import Gateway

pytestmark = pytest.mark.sockets


def old(method: str = "POST", path: str = "/api/sessions/s1/chat", body: bytes = b"") -> bytes:
    return request(body, method=method, path=path).replace(b"HTTP/1.1", b"HTTP/1.0", 1)


async def answered(gateway: Gateway, asked: bytes) -> tuple[list[bytes], bytes]:
    """The lines of the head, and what came until the connection ended."""
    async with RawClient(gateway) as client:
        await client.send(asked)
        head, _, body = (await client.read_all()).partition(b"\r\n\r\n")
    return head.lower().split(b"\r\n"), body


@pytest.mark.parametrize("size", [5, 3_000_000])
async def test_a_stream_is_not_cut_into_chunks(size: int) -> None:
    async def talk(line: Line) -> None:
        await line.begin()
        await line.say(frames.delta("x" * size), frames.finalize())

    async with ScriptedAgent(talk) as agent, Gateway(agent.url()) as gateway:
        head, body = await answered(gateway, old(body=json.dumps(ask()).encode()))

        assert head[0] == b"http/1.1 200 ok"
        assert b"connection: close" in head
        assert not [line for line in head if line.startswith((b"transfer-", b"content-length"))]
        assert is_whole(body)
        assert said(body) == "x" * size
        await gateway.has_ended("completed")


@pytest.mark.parametrize("path", ["/healthz", "/api/sessions/s1/nothing", "/openapi.json"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_an_answer_that_has_a_length_says_it(path: str, method: str) -> None:
    async with Gateway() as gateway:
        head, body = await answered(gateway, old(method, path))

    assert b"connection: close" in head
    assert not [line for line in head if line.startswith(b"transfer-")]
    (length,) = [line for line in head if line.startswith(b"content-length: ")]
    assert method == "HEAD" or int(length.removeprefix(b"content-length: ")) == len(body)


async def test_nothing_has_no_body() -> None:
    async def idle(line: Line) -> None:
        await line.say({"type": "init", "data": {}})

    async with ScriptedAgent(idle) as agent, Gateway(agent.url()) as gateway:
        head, body = await answered(gateway, old("GET", "/api/sessions/s1/chat/c1/stream"))

    assert head[0].startswith(b"http/1.1 204 ")
    assert body == b""
    assert not [line for line in head if line.startswith(b"transfer-")]
