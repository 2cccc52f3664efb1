"""Heads of requests: how long they may be, and what is refused."""

import json

import pytest

from gateway.clients import RawClient, get
from gateway.running import Gateway
from turnwire.web.server.request_head import HEAD_BYTES_MAX, HEADERS_MAX


@pytest.mark.sockets
@pytest.mark.parametrize(
    "begun",
    [
        b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-long: ",
        b"GET /healthz?",
        b"GET /healthz HTTP/1.1\r\nhost: x\r\nx: y\r\nx-long: ",
    ],
)
@pytest.mark.fault("a request's head does not end", "400 at 64 KiB")
@pytest.mark.attack("a head without end", "400 at 64 KiB")
async def test_a_head_without_end_is_refused(begun: bytes) -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(begun)
        for _ in range(HEAD_BYTES_MAX // 8_192 + 1):
            await client.send(b"a" * 8_192)
        answer = await client.read_all()

        assert answer.startswith(b"HTTP/1.1 400 ")
        assert json.loads(answer.split(b"\r\n\r\n")[1])["code"] == "bad_request"
        assert (await get(gateway, "/healthz")).status_code == 200


@pytest.mark.sockets
@pytest.mark.attack("a head of more than 100 fields", "400")
async def test_a_head_of_too_many_fields_is_refused() -> None:
    for count, status in ((HEADERS_MAX, b"200"), (HEADERS_MAX + 1, b"400")):
        async with Gateway() as gateway, RawClient(gateway) as client:
            fields = b"host: x\r\nconnection: close\r\n" + b"x: y\r\n" * (count - 2)
            await client.send(b"GET /healthz HTTP/1.1\r\n" + fields + b"\r\n")

            assert (await client.read_all()).startswith(b"HTTP/1.1 " + status)


@pytest.mark.sockets
async def test_what_is_no_http_is_refused_in_the_words_of_all_refusals() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(b"\x16\x03\x01 this is TLS\r\n\r\n")
        answer = await client.read_all()

    head, body = answer.split(b"\r\n\r\n")
    assert b"cache-control: no-store" in head
    assert json.loads(body).keys() == {"error", "code", "requestId"}
