"""What each proxy of `deploy/` makes of a request before a gateway has it."""

from pathlib import Path

import pytest

from chaos.fronts import Front
from chaos.reader import Reader
from gateway.clients import ask, new_client
from gateway.tokens import bearer
from gateway.waiting import until
from proxies.double import Double
from proxies.fronts import FRONTS, Caddy, Traefik
from support.form import LONG

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

HALF_A_HEAD = b"POST /api/sessions/s1/chat HTTP/1.1\r\nhost: x\r\nx-"
HALF_A_BODY = HALF_A_HEAD + b"y: z\r\ncontent-length: 9\r\n\r\n{"

each_front = pytest.mark.parametrize("kind", FRONTS)


@each_front
async def test_a_prompt_that_was_sent_is_not_sent_again(kind: type[Front], tmp_path: Path) -> None:
    """Both gateways close the connection when they have it: it may have reached the agent."""
    async with (
        Double(answers=False) as one,
        Double(answers=False) as other,
        kind(tmp_path, (one.port, other.port)) as front,
    ):
        headers = {
            **bearer(),
            "x-request-id": "mine-1",
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "x-turnwire-session": "another",
        }
        async with new_client() as client:
            url = f"{front.url}/api/sessions/s1/chat"
            response = await client.post(url, json=ask(), headers=headers)

    assert response.status_code in {502, 503}
    (head,) = one.heads + other.heads
    del headers["x-turnwire-session"]
    assert {name: head.get(name) for name in headers} == headers


@each_front
async def test_a_gateway_that_cannot_be_connected_to_costs_nothing(
    kind: type[Front], tmp_path: Path
) -> None:
    """By a second attempt, or because a check has told the proxy."""
    async with Double() as one, kind(tmp_path, (one.port, 1)) as front, new_client() as client:
        for number in range(8):
            url = f"{front.url}/api/sessions/s{number}/chat"
            response = await client.post(url, json=ask(), headers=bearer())
            assert response.status_code == 200

    assert len(one.heads) == 8


@pytest.mark.skipif(not LONG, reason="the long form alone: it takes up to half a minute")
@pytest.mark.parametrize("begun", [HALF_A_HEAD, HALF_A_BODY], ids=["head", "body"])
@each_front
async def test_half_a_request_is_not_waited_for(
    kind: type[Front], tmp_path: Path, begun: bytes
) -> None:
    if kind is Caddy and begun is HALF_A_BODY:
        pytest.skip("behind Caddy a slow body is the gateway's to bound")
    async with (
        Double() as one,
        kind(tmp_path, (one.port, one.port)) as front,
        Reader(front.port) as client,
    ):
        client.send(begun)
        await until(lambda: client.heard or client.is_over, 40)

    assert b" 200 " not in client.heard
    assert one.heads == []


@each_front
async def test_a_body_that_is_too_large_is_refused(kind: type[Front], tmp_path: Path) -> None:
    if kind is Traefik:
        pytest.skip("Traefik bounds a body only where it holds responses back too")
    async with (
        Double() as one,
        kind(tmp_path, (one.port, one.port)) as front,
        Reader(front.port) as client,
    ):
        client.send(HALF_A_HEAD + b"y: z\r\ncontent-length: 17000000\r\n\r\n")
        client.send(b" " * 17_000_000)
        await until(lambda: b"\r\n\r\n" in client.heard)

    assert client.status == 413
