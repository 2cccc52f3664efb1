"""The dial: how it fails, what the client hears of it, and what is cached."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import RawClient, chatting, errors, is_whole, outline, post
from gateway.hanging import hanging
from gateway.lateness import lateness
from gateway.rawagent import RawAgent
from gateway.running import Gateway
from gateway.waiting import until
from support.dialled import Counting, dialled
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.dns import Addresses

pytestmark = pytest.mark.sockets

ACCEPTED = (
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
    b"sec-websocket-accept: bm90IHRoZSByaWdodCBvbmUhIQ==\r\n"
)


def _closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


async def _fails(gateway: Gateway, reason: str) -> None:
    response = await post(gateway)

    assert response.status_code == 200
    assert outline(response.text) == ["start", "error", "finish"]
    assert errors(response.text) == ["Connection failed"]
    assert is_whole(response.text)
    await until(lambda: gateway.ended("unreachable") == 1)
    assert gateway.counted("turnwire_dial_failures_total", reason=reason) == 1


@pytest.mark.fault("the agent refuses the connection", "“Connection failed”")
async def test_a_refused_connection_is_told_in_a_stream() -> None:
    async with Gateway(f"ws://127.0.0.1:{_closed_port()}/{{session_id}}") as gateway:
        await _fails(gateway, "connect")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 64 + ".invalid"])
@pytest.mark.fault("the agent's name has no address", "“Connection failed”")
async def test_a_name_that_has_no_address_is_told_in_a_stream(host: str) -> None:
    url = f"wss://{host}/{{session_id}}"
    async with Gateway(url) as gateway:
        await _fails(gateway, "dns")


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
async def test_a_handshake_of_garbage_is_told_in_a_stream(reply: bytes) -> None:
    async with RawAgent(reply) as agent, Gateway(agent.url()) as gateway:
        await _fails(gateway, "handshake")
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
        await _fails(gateway, "timeout")
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
        await _fails(gateway, "redirect")

        assert agent.connections == 1


@pytest.mark.attack("a proxy in the environment", "it is not used on the way to the agent")
async def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawAgent(b"") as proxy, ScriptedAgent() as agent:
        for name in ("http_proxy", "https_proxy", "ws_proxy", "all_proxy", "socks_proxy"):
            for spelled in (name, name.upper()):
                monkeypatch.setenv(spelled, f"http://127.0.0.1:{proxy.port}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        async with Gateway(agent.url()) as gateway:
            response = await post(gateway)

        assert is_whole(response.text)
        assert agent.connections == 1
        assert proxy.requests == []


@pytest.mark.parametrize("status", [200, 400, 403, 409, 429, 500, 503])
@pytest.mark.fault("the handshake is answered with 403, 429, 503, …", "“Connection failed”")
async def test_any_other_status_of_the_handshake_is_told_in_a_stream(status: int) -> None:
    async with ScriptedAgent(status=status) as agent, Gateway(agent.url()) as gateway:
        await _fails(gateway, "status")

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


@pytest.fixture
def full_port() -> Iterator[int]:
    with hanging() as (_, port):
        yield port


async def test_a_client_that_leaves_during_the_connect_ends_it(full_port: int) -> None:
    async with Gateway(f"ws://127.0.0.1:{full_port}/{{session_id}}", dial_s=5) as gateway:
        async with RawClient(gateway) as client:
            await client.chat()
            await until(_is_dialling)
        await gateway.has_ended("client_gone")
        await until(lambda: not _is_dialling())


def _is_dialling() -> bool:
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return "AgentLink._open" in names


@pytest.mark.fault("the connect hangs", "“Connection failed” after `TURNWIRE_DIAL_S`")
async def test_a_connect_that_hangs_ends_with_the_dial_time(full_port: int) -> None:
    url = f"ws://127.0.0.1:{full_port}/{{session_id}}"
    async with Gateway(url, dial_s=0.2) as gateway:
        await _fails(gateway, "timeout")


async def test_a_name_is_dialled_on_whichever_of_its_addresses_answers() -> None:
    """`localhost` may be ::1 first, where nobody listens."""
    async with ScriptedAgent() as agent, Gateway(agent.url("localhost")) as gateway:
        response = await post(gateway)

        assert is_whole(response.text)
        assert agent.lines[0].headers["host"] == f"localhost:{agent.port}"


async def test_an_address_in_brackets_is_dialled() -> None:
    try:
        agent = await ScriptedAgent(host="::1").__aenter__()
    except OSError:
        pytest.skip("no IPv6 here")
    async with Gateway(agent.url("[::1]")) as gateway:
        response = await post(gateway)
    await agent.__aexit__(None, None, None)

    assert is_whole(response.text)


async def test_a_look_up_is_cached_and_the_cache_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    looked_up: list[str] = []
    look_up = loop.getaddrinfo

    async def counted(host: str, port: int, **more: Any) -> object:
        looked_up.append(host)
        return await look_up("127.0.0.1", port, **more)

    monkeypatch.setattr(loop, "getaddrinfo", counted)  # the loop's, no code of ours
    dialler = Dialler(user_timeout_s=1)
    async with ScriptedAgent() as agent:
        for name in ["a.example"] * 3 + [f"{number}.example" for number in range(70)]:
            upstream = await dialled(dialler, f"ws://{name}:{agent.port}/")
            upstream.close()

    assert looked_up.count("a.example") == 1
    assert len(dialler._addresses) <= 64


async def test_dials_of_one_name_at_once_share_its_look_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    looked_up: list[str] = []

    async def slow(host: str, port: int, **_: Any) -> object:
        looked_up.append(host)
        await asyncio.sleep(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(loop, "getaddrinfo", slow)  # the loop's, no code of ours
    addresses = Addresses()
    first = asyncio.create_task(addresses.of("a.example", 1))
    others = [asyncio.create_task(addresses.of("a.example", 1)) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()

    assert {len(await other) for other in others} == {1}
    assert looked_up == ["a.example"]


async def test_a_look_up_that_failed_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()

    async def fails(*_: Any, **__: Any) -> object:
        raise socket.gaierror

    monkeypatch.setattr(loop, "getaddrinfo", fails)  # the loop's, no code of ours
    addresses = Addresses()
    with pytest.raises(OSError):  # noqa: PT011 (a gaierror has no text of its own)
        await addresses.of("a.example", 1)

    assert len(addresses) == 0


async def test_a_look_up_that_failed_when_nobody_waited_any_more_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    fail = asyncio.Event()

    async def fails(*_: Any, **__: Any) -> object:
        await fail.wait()
        raise socket.gaierror

    monkeypatch.setattr(loop, "getaddrinfo", fails)  # the loop's, no code of ours
    addresses = Addresses()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await addresses.of("a.example", 1)
    assert len(addresses) == 1

    fail.set()

    await until(lambda: len(addresses) == 0)


@pytest.mark.fault("one of the agent's addresses refuses connections", "the next one is dialled")
async def test_a_second_address_is_tried_when_the_first_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialler = Dialler(user_timeout_s=1)
    listener = Counting()
    async with ScriptedAgent() as agent:

        async def two(_host: str, port: int, **_: Any) -> object:
            kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
            return [(*kind, ("127.0.0.2", port)), (*kind, ("127.0.0.1", port))]

        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "getaddrinfo", two)  # the loop's, no code of ours
        upstream = await dialled(dialler, f"ws://two.example:{agent.port}/", listener)
        await until(lambda: listener.opened)
        upstream.close()


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


async def test_the_agents_socket_notices_a_peer_that_vanished() -> None:
    async with ScriptedAgent() as agent:
        dialler = Dialler(user_timeout_s=7)
        upstream = await dialled(dialler, agent.url().format(session_id="s1"))
        assert upstream._transport is not None
        sock = upstream._transport.get_extra_info("socket")
        options = [
            sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
            sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT),
        ]
        upstream.close()

    assert options == [1, 8750]


async def test_the_sockets_of_clients_have_keepalive_and_no_limit_of_the_kernel() -> None:
    """It would cut a client that reads slowly and steadily; what they do not read we watch."""
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("start-step")
        (connection,) = gateway.server.server_state.connections
        assert connection.transport is not None
        sock = connection.transport.get_extra_info("socket")
        options = [
            sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
            sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT),
        ]

    assert options == [1, 0]
