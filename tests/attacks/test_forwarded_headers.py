"""Headers by which a proxy says who is asking: anybody can send them."""

import re
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.agent import ScriptedAgent
from gateway.clients import ask, new_client
from gateway.control_plane import ControlPlane, granted
from gateway.running import Gateway
from gateway.tokens import bearer

pytestmark = pytest.mark.sockets

SPOOFED = {
    "x-forwarded-for": "10.0.0.1",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
    "x-forwarded-port": "1",
    "x-forwarded-prefix": "/admin",
    "x-forwarded-user": "root",
    "forwarded": "for=10.0.0.1;host=evil.example;proto=https",
    "x-real-ip": "10.0.0.1",
    "x-original-url": "/healthz",
    "x-rewrite-url": "/healthz",
    "x-http-method-override": "GET",
    "x-turnwire-user": "root",
    "x-user-id": "root",
    "x-role": "owner",
    "proxy": "http://127.0.0.1:1",
    "via": "1.1 evil.example",
    "host": "evil.example",
}


def still(text: str) -> str:
    """Without what differs from one request to the next."""
    return re.sub(r"[0-9a-f]{32}", "", text)


@pytest.mark.attack(
    "`X-Forwarded-*`, `Forwarded`, `X-Original-URL`, `X-Turnwire-User` and similar headers",
    "they change neither the answer nor what the agent, the control plane and the log get",
)
@pytest.mark.parametrize("auth", ["forward", "none"])
async def test_forwarding_headers_change_nothing(auth: str) -> None:
    told: list[Any] = []
    signed = bearer()
    async with (
        ScriptedAgent() as agent,
        ControlPlane(granted()) as plane,
        Gateway(
            agent.url(), given={**plane.settings(access_cache_s=0), "agent_auth": auth}
        ) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        with capture_logs() as logs:
            for spoofed in ({}, SPOOFED):
                sent = {**signed, "x-request-id": "r1", **spoofed}
                response = await client.post(url, json=ask(), headers=sent)
                told.append(
                    (response.status_code, still(response.text), {**response.headers, "date": ""})
                )
        viewed = await client.get(f"{gateway.url}/", headers=SPOOFED, follow_redirects=False)

    heard = [
        {k: v for k, v in line.headers.raw_items() if k.lower() != "sec-websocket-key"}
        for line in agent.lines
    ]
    asked = [question.headers for question in plane.questions]
    assert told[0] == told[1]
    assert heard[0] == heard[1]
    assert [line["client"] for line in logs] == ["127.0.0.1"] * 2
    assert "evil" not in str(asked) + str(logs)
    assert "root" not in str(asked) + str(heard)
    assert viewed.status_code == 404
    assert "evil" not in str(viewed.headers) + viewed.text


@pytest.mark.attack(
    "a client that sends its own address in a header, behind a trusted proxy",
    "the log has the address that the proxy saw",
)
@pytest.mark.parametrize(
    ("trusted", "client_address"),
    [("127.0.0.1", "203.0.113.9"), ("127.0.0.0/8, 10.0.0.0/8", "203.0.113.9"), ("10.0.0.1", None)],
)
async def test_the_log_has_what_a_trusted_proxy_saw(
    trusted: str, client_address: str | None
) -> None:
    """In the lines of streams and of refusals."""
    forwarded = {"x-forwarded-for": "10.9.9.9, 198.51.100.1, 203.0.113.9"}
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), trusted_proxies=trusted) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        with capture_logs() as logs:
            await client.post(url, json=ask(), headers={**bearer(), **forwarded})
            await client.post(url, json=ask(), headers={**forwarded, "forwarded": "for=10.0.0.2"})

    assert [(line["event"], line["client"]) for line in logs] == [
        ("stream ended", client_address or "127.0.0.1"),
        ("refused", client_address or "127.0.0.1"),
    ]
