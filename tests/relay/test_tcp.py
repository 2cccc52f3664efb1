"""What is read off a client's socket, which may be gone by then."""

import asyncio
import socket as sockets
from contextvars import ContextVar

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import chatting
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.relay.tcp import ClientSocket

pytestmark = pytest.mark.sockets


async def test_a_connection_that_is_gone_has_nothing_unsent() -> None:
    accepted: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: accepted.append(writer), "127.0.0.1", 0)
    async with server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        await until(lambda: accepted)
        transport = accepted[0].transport
        assert isinstance(transport, asyncio.Transport)
        transport.abort()
        sock = transport.get_extra_info("socket")
        await until(lambda: sock.fileno() < 0)

        assert ClientSocket(transport).unsent_bytes() == 0
        writer.transport.abort()


async def test_who_watches_is_told_once_of_the_clients_end() -> None:
    told: list[str] = []
    socket = ClientSocket(asyncio.Transport())
    socket.watch(lambda: told.append("gone"))

    socket.gone()
    socket.gone()

    assert told == ["gone"]


async def test_who_comes_too_late_is_told_too_but_not_at_once() -> None:
    told: list[str] = []
    socket = ClientSocket(asyncio.Transport())
    socket.gone()

    socket.watch(lambda: told.append("gone"))

    assert not told
    await until(lambda: told == ["gone"])


async def test_who_watches_no_more_is_not_told() -> None:
    told: list[str] = []
    socket = ClientSocket(asyncio.Transport())
    socket.watch(lambda: told.append("gone"))

    socket.watch(None)
    socket.gone()

    assert not told


class Unsent(asyncio.Transport):
    def get_write_buffer_size(self) -> int:
        return 1


async def test_what_is_told_late_is_told_in_the_name_of_who_asked() -> None:
    """Its line of the log has the trace of its request, whatever shows that the client is gone."""
    trace: ContextVar[str] = ContextVar("trace", default="")
    told: list[str] = []
    socket = ClientSocket(Unsent())

    async def ask(name: str) -> None:
        trace.set(name)
        socket.when_acked(lambda: told.append(trace.get()))

    await asyncio.create_task(ask("one"))
    await asyncio.create_task(ask("two"))
    socket.gone()

    assert told == ["one", "two"]


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
            sock.getsockopt(sockets.SOL_SOCKET, sockets.SO_KEEPALIVE),
            sock.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_USER_TIMEOUT),
        ]

    assert options == [1, 0]
