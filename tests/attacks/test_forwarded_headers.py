"""Headers by which a proxy says who is asking: anybody can send them."""

import re
from typing import Any

import pytest

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
    "`X-Forwarded-*`, `Forwarded`, `X-Original-URL`, `X-Turnwire-User` and the like",
    "they change nothing: neither the answer, nor what the agent and the control plane are told",
)
@pytest.mark.parametrize("auth", ["forward", "none"])
async def test_forwarding_headers_change_nothing(auth: str) -> None:
    told: list[Any] = []
    async with (
        ScriptedAgent() as agent,
        ControlPlane(granted()) as plane,
        Gateway(
            agent.url(), given={**plane.settings(access_cache_s=0), "agent_auth": auth}
        ) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        for spoofed in ({}, SPOOFED):
            sent = {**bearer(), "x-request-id": "r1", **spoofed}
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
    assert "evil" not in str(asked)
    assert "root" not in str(asked) + str(heard)
    assert viewed.status_code == 404
    assert "evil" not in str(viewed.headers) + viewed.text
