"""The handshake: how it is refused, and what the client gets of it."""

import asyncio

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import RawClient, post
from gateway.lateness import lateness
from gateway.rawagent import RawAgent
from gateway.running import Gateway
from gateway.unreachable import ends_unreachable
from gateway.waiting import until
from support.dialled import Counting, dialled
from turnwire.relay.agent.dialer import Dialler

pytestmark = pytest.mark.sockets

ACCEPTED = (
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
    b"sec-websocket-accept: bm90IHRoZSByaWdodCBvbmUhIQ==\r\n"
)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", id="another protocol"),
        pytest.param(b"", id="nothing at all"),
        pytest.param(b"HTTP/1.1 101", id="half an answer"),
        pytest.param(b"\0" * 100_000, id="zeroes"),
        pytest.param(ACCEPTED + b"\r\n", id="the key of another handshake"),
        pytest.param(b"HTTP/1.1 101 x\r\n\r\n", id="no upgrade"),
        pytest.param(b"HTTP/1.1 101 x\r\n" + b"a: b\r\n" * 10_000 + b"\r\n", id="endless headers"),
    ],
)
@pytest.mark.fault("the handshake is answered with garbage", "“Connection failed”")
async def test_a_handshake_of_garbage_is_reported_in_a_stream(reply: bytes) -> None:
    async with RawAgent(reply) as agent, Gateway(agent.url()) as gateway:
        await ends_unreachable(gateway, "handshake")
        await agent.all_left()

        assert len(agent.requests) == 1


@pytest.mark.parametrize("reply", [b"", b"HTTP/1.1 101 Switching"])
@pytest.mark.fault("the handshake hangs", "“Connection failed” after `TURNWIRE_DIAL_S`")
async def test_a_hung_handshake_ends_with_the_dial_time(reply: bytes) -> None:
    async with (
        RawAgent(reply, hang=True) as agent,
        Gateway(agent.url(), dial_s=0.2) as gateway,
        lateness() as late,
    ):
        started = asyncio.get_running_loop().time()
        await ends_unreachable(gateway, "timeout")
        await agent.all_left()

        took_s = asyncio.get_running_loop().time() - started
        assert took_s >= 0.2
        assert took_s - late.s < 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.fault(
    "the handshake is answered with a redirect", "“Connection failed”; it is not followed"
)
async def test_a_redirect_is_not_followed(status: int) -> None:
    async with ScriptedAgent(status=status) as agent, Gateway(agent.url()) as gateway:
        await ends_unreachable(gateway, "redirect")

        assert agent.connections == 1


@pytest.mark.parametrize("status", [200, 400, 403, 409, 429, 500, 503])
@pytest.mark.fault("the handshake is answered with 403, 429, 503, …", "“Connection failed”")
async def test_any_other_status_of_the_handshake_is_reported_in_a_stream(status: int) -> None:
    async with ScriptedAgent(status=status) as agent, Gateway(agent.url()) as gateway:
        await ends_unreachable(gateway, "status")

        assert agent.connections == 1


@pytest.mark.parametrize(("status", "code"), [(401, "unauthorized"), (404, "not_found")])
@pytest.mark.fault(
    "the handshake is answered with 401 or 404, to the user's own token", "the same status"
)
async def test_what_the_handshake_says_of_the_users_token_becomes_the_status(
    status: int, code: str
) -> None:
    async with ScriptedAgent(status=status) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway, headers={"x-request-id": "r-9"})

        assert response.status_code == status
        assert response.json()["code"] == code
        assert response.json()["requestId"] == "r-9"
        assert response.headers["cache-control"] == "no-store"
        await until(lambda: gateway.ended("refused") == 1)
        assert gateway.counted("turnwire_refusals_total", code=code) == 1


@pytest.mark.parametrize("status", [401, 404])
@pytest.mark.parametrize(
    "auth", [{"agent_auth": "service", "agent_token": "t"}, {"agent_auth": "none"}]
)
@pytest.mark.fault("the handshake is answered with 401 or 404, to the gateway's own token", "503")
async def test_what_the_handshake_says_of_the_gateways_own_token_is_503(
    status: int, auth: dict[str, str]
) -> None:
    async with ScriptedAgent(status=status) as agent, Gateway(agent.url(), given=auth) as gateway:
        response = await post(gateway)

        assert response.status_code == 503
        assert response.headers["retry-after"] == "5"
        assert response.json()["code"] == "unavailable"


async def test_a_client_that_leaves_during_the_handshake_costs_no_prompt() -> None:
    """Its handshake is cut, and the agent never hears what was asked."""
    async with RawAgent(hang=True) as agent, Gateway(agent.url(), dial_s=5) as gateway:
        async with RawClient(gateway) as client:
            await client.chat()
            await until(lambda: agent.requests)
        await agent.all_left()
        await gateway.has_ended("client_gone")

    assert b"prompt" not in agent.requests[0]


async def test_a_sub_protocol_is_offered_as_the_dialect_names_it() -> None:
    listener = Counting()
    async with ScriptedAgent(subprotocols=["agent.v9"]) as agent:
        url = agent.url().format(session_id="s1")
        dialler = Dialler(user_timeout_s=1)
        offered = ("agent.v9", "agent.v8")
        upstream = await dialled(
            dialler, url, listener, headers={"x": "y"}, offered_protocols=offered
        )
        await until(lambda: listener.opened)
        line = await agent.line()
        upstream.close()

        assert line.headers["sec-websocket-protocol"] == "agent.v9, agent.v8"
        assert line.connection.subprotocol == "agent.v9"
