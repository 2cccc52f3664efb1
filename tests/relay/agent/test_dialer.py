"""The dial: how it fails, what the client hears of it, and which address it takes."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import RawClient, is_whole, post
from gateway.hanging import hanging
from gateway.rawagent import RawAgent
from gateway.running import Gateway
from gateway.unreachable import ends_unreachable
from gateway.waiting import until
from support.dialled import Counting, dialled
from turnwire.relay.agent.dialer import Dialler

pytestmark = pytest.mark.sockets


def _closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@pytest.mark.fault("the agent refuses the connection", "“Connection failed”")
async def test_a_refused_connection_is_reported_in_a_stream() -> None:
    async with Gateway(f"ws://127.0.0.1:{_closed_port()}/{{session_id}}") as gateway:
        await ends_unreachable(gateway, "connect")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 64 + ".invalid"])
@pytest.mark.fault("the agent's name has no address", "“Connection failed”")
async def test_a_name_that_has_no_address_is_reported_in_a_stream(host: str) -> None:
    url = f"wss://{host}/{{session_id}}"
    async with Gateway(url) as gateway:
        await ends_unreachable(gateway, "dns")


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
        await ends_unreachable(gateway, "timeout")


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
