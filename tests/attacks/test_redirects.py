"""Whoever answers with "ask over there" gets nobody's token to over there."""

from collections.abc import AsyncIterator

import pytest

from attacks.routes import CHAT, ROUTES, Route
from gateway.agent import ScriptedAgent
from gateway.clients import errors, new_client
from gateway.control_plane import ControlPlane, reply
from gateway.key_sets import key_set
from gateway.rawagent import RawAgent
from gateway.running import Gateway
from gateway.signers import signer
from gateway.tokens import bearer

pytestmark = pytest.mark.sockets

STATUSES = (300, 301, 302, 303, 305, 307, 308)
HOSTS = ("127.0.0.1", "localhost")


@pytest.fixture
async def thief() -> AsyncIterator[ControlPlane]:
    """It would take whatever comes."""
    async with ControlPlane(reply(200, b"{}")) as listening:
        yield listening


def moved(status: int, scheme: str, host: str, port: int) -> bytes:
    return reply(status, b"", f"location: {scheme}://{host}:{port}/api/sessions/s1/ws")


@pytest.mark.attack(
    "the agent answers the handshake with a redirect to another host",
    "the dial fails; the gateway does not follow, so no token goes there",
)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
async def test_an_agent_cannot_send_the_token_elsewhere(route: Route, thief: ControlPlane) -> None:
    for status in STATUSES:
        for scheme, host in zip(("ws", "http"), HOSTS, strict=True):
            async with (
                RawAgent(moved(status, scheme, host, thief.port)) as agent,
                Gateway(agent.url()) as gateway,
                new_client() as client,
            ):
                response = await route.call(client, gateway.url, bearer())
                if route.name in {"chat", "resume"}:
                    assert errors(response.text) == ["Connection failed"]
                else:
                    assert response.status_code == 503
                assert len(agent.requests) == 1

    assert thief.connections == 0


@pytest.mark.attack(
    "the control plane answers with a redirect to another host",
    "503; the gateway does not follow, so no token goes there",
)
@pytest.mark.parametrize("status", STATUSES)
async def test_a_control_plane_cannot_either(status: int, thief: ControlPlane) -> None:
    async with (
        ScriptedAgent() as agent,
        ControlPlane(moved(status, "http", "localhost", thief.port)) as plane,
        Gateway(agent.url(), given=plane.settings()) as gateway,
        new_client() as client,
    ):
        for route in ROUTES:
            headers = {"authorization": f"Bearer opaque-{route.name}"}
            response = await route.call(client, gateway.url, headers)
            assert response.status_code == 503
        assert agent.connections == 0

    assert thief.connections == 0


@pytest.mark.attack(
    "the key set's address answers with a redirect to foreign keys",
    "503; the keys there are not fetched",
)
@pytest.mark.parametrize("status", STATUSES)
async def test_keys_are_not_fetched_from_elsewhere(status: int) -> None:
    evil = signer("ES256", 7)
    async with (
        ScriptedAgent() as agent,
        ControlPlane(key_set(evil.jwk("k1"))) as elsewhere,
        ControlPlane(moved(status, "http", "localhost", elsewhere.port)) as keys,
    ):
        jwks = {
            "jwt_algorithm": "ES256",
            "jwt_key": "",
            "jwt_jwks_url": f"http://127.0.0.1:{keys.port}/jwks",
        }
        async with Gateway(agent.url(), given=jwks) as gateway, new_client() as client:
            headers = {"authorization": f"Bearer {evil.token('k1')}"}
            response = await CHAT.call(client, gateway.url, headers)
            assert response.status_code == 503

        assert keys.connections == 1
        assert elsewhere.connections == 0
        assert agent.connections == 0
