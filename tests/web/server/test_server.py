"""The socket that the gateway listens on, and clients that acknowledge nothing any more."""

import asyncio
import socket
from contextlib import ExitStack
from typing import Any

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.clients import chatting, is_whole
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.relay import tcp
from turnwire.web.server import server
from turnwire.web.server.server import listen

pytestmark = pytest.mark.sockets


def test_an_address_is_taken_before_anything_is_served_on_it() -> None:
    """A bound socket alone would let a second gateway bind the same address."""
    with listen("127.0.0.1", 0) as first, pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", first.getsockname()[1])


def test_an_ipv6_address_can_be_listened_on() -> None:
    try:
        sock = listen("::1", 0)
    except OSError:
        pytest.skip("no IPv6 here")
    with sock:
        assert sock.family == socket.AF_INET6


def test_what_it_accepts_is_probed() -> None:
    with (
        listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        option = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        keepalive = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)

    assert (option, keepalive) == (0, 1)


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the kernel's first probe, an idle peer and one that vanished look alike."""
    monkeypatch.setattr(tcp, "_VANISHED_S", 0.4)
    monkeypatch.setattr(server, "_CHECK_TICKS", 1)


@pytest.mark.usefixtures("_impatient")
async def test_a_client_that_acknowledges_nothing_is_let_go() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url()) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("Hello")
        line = await agent.line()
        await until(lambda: line.closed)

        assert len(line.aborts) == 1
        await gateway.has_ended("client_gone")


@pytest.mark.usefixtures("_impatient")
async def test_one_that_acknowledges_is_kept_though_it_says_nothing() -> None:
    async def talk(line: Line) -> None:
        await line.begin()
        for _ in range(30):
            await line.say(frames.delta("x"))
            await asyncio.sleep(0.05)  # an agent that thinks, for longer than the patience
        await line.say(frames.finalize())

    async with (
        ScriptedAgent(talk) as agent,
        Gateway(agent.url()) as gateway,
        chatting(gateway) as chat,
    ):
        assert is_whole(await chat.end())


async def test_what_is_accepted_beside_another_is_served_as_well() -> None:
    request = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        with ExitStack() as stack:
            clients = [
                stack.enter_context(socket.create_connection(("127.0.0.1", gateway.port)))
                for _ in range(20)
            ]
            state = gateway.server.server_state
            asyncio.get_running_loop().remove_reader(gateway._sock)
            config: Any = gateway.server.config
            # As the loop does with the first of them.
            config.http_protocol_class(config=config, server_state=state, app_state={})
            await until(lambda: len(state.connections) == len(clients))
            delayed = [
                connection.transport.get_extra_info("socket").getsockopt(
                    socket.IPPROTO_TCP, socket.TCP_NODELAY
                )
                for connection in state.connections
            ]
            for client in clients:
                client.sendall(request)
            await until(lambda: state.total_requests == len(clients))
            answers = [await asyncio.to_thread(client.recv, 100) for client in clients]

    assert all(delayed)
    assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}
