"""What a server bears: handshakes that come to nothing, ids of any kind, peers that are gone."""

import asyncio
import socket as sockets

import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.frames import CloseCode

from runtime.host.hosted import Scripted, echo, hosted, words
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Command, TooManyCommandsError


async def test_a_handshake_that_comes_to_nothing_takes_no_place() -> None:
    async with hosted(Scripted(echo), settings=HostSettings(sockets=1)) as host:
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", host.port)
            writer.write(b"GET /api/sessions/s1/ws HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"426" in await reader.readline()
            writer.close()

        async with host.socket() as socket:
            assert words(await socket.turn("hello")) == "hello "
            with pytest.raises(InvalidStatus, match="503"):
                async with host.socket():
                    pass


@pytest.mark.parametrize("prompt_id", ["p" * 256, "p" * 257, "p" * 512, "a\0b", "é" * 512])
async def test_a_prompt_may_have_any_id_that_its_frame_may_have(prompt_id: str) -> None:
    async with hosted(Scripted(echo)) as host, host.socket() as socket:
        await socket.ask("hello", prompt_id)
        await socket.ask("hello", prompt_id)
        assert words(await socket.rest(prompt_id)) == "hello "

        await socket.turn("next", "p2")
        created = [each["promptId"] for each in socket.seen if each["type"] == "message.create"]
        assert created == [prompt_id, "p2"]


async def test_a_stop_that_cannot_be_kept_closes_the_socket_and_may_be_tried_again() -> None:
    class Full(MemoryJournal):
        async def put(self, session: str, command: Command) -> bool:
            if command.kind.startswith("abort"):
                raise TooManyCommandsError
            return await super().put(session, command)

    async def answer(_: Turn) -> Ended:
        await asyncio.Event().wait()
        return Ended()

    async with hosted(Scripted(answer), Full()) as host, host.socket() as socket:
        await socket.ask("hello")
        await socket.until("message.create")
        await socket.send("abort", promptId="p1")
        with pytest.raises(ConnectionClosedError) as closed:
            await socket.rest()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == CloseCode.TRY_AGAIN_LATER


async def test_a_gateway_that_is_gone_without_a_word_is_noticed() -> None:
    async with hosted(Scripted(echo)) as host, host.socket(), host.replica.session("s1") as live:
        (served,) = live.sockets
        tcp = served.transport.get_extra_info("socket")
        assert tcp.getsockopt(sockets.SOL_SOCKET, sockets.SO_KEEPALIVE) == 1
        assert tcp.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_KEEPIDLE) == 60
