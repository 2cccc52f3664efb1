"""A socket that outlives its exchanges: who hears what happens to it."""

import asyncio

import pytest

from gateway.waiting import until
from support.http_socket import MemorySocket, real_pair
from turnwire.relay.agent.http.socket import HttpSocket

pytestmark = pytest.mark.sockets


class User:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def data_received(self, data: bytes) -> None:
        self.heard.append(data)

    def eof_received(self) -> None:
        self.heard.append("eof")

    def connection_lost(self) -> None:
        self.heard.append("lost")

    def writing_resumed(self) -> None:
        self.heard.append("resumed")


async def test_its_user_hears_all() -> None:
    user = User()
    async with real_pair() as (ours, theirs):
        ours.user = user
        theirs.send(b"abc")
        await until(lambda: user.heard == [b"abc"])
        theirs.close()
        await until(lambda: len(user.heard) == 3)

    assert user.heard == [b"abc", "eof", "lost"]


async def test_after_an_abort_nobody_hears_anything_and_after_a_cut_its_user_does() -> None:
    aborted, cut = User(), User()
    async with real_pair() as (first, _), real_pair() as (second, _):
        first.user, second.user = aborted, cut
        first.abort()
        second.cut()
        await until(lambda: cut.heard == ["lost"])
        assert first.is_closing

    assert aborted.heard == []


async def test_a_server_that_speaks_before_it_is_asked_is_left() -> None:
    async with real_pair() as (ours, theirs):
        theirs.send(b"hello")

        await until(lambda: ours.is_closing)


async def test_a_connection_that_is_made_after_the_dial_was_given_up_is_closed() -> None:
    made = HttpSocket()
    made.abort()
    wire = MemorySocket()

    made.connection_made(wire)

    assert wire.is_closing()


async def test_it_is_silent_until_something_came_that_nobody_read() -> None:
    async with real_pair() as (ours, theirs):
        assert ours.is_silent
        ours.set_reading(is_reading=False)
        theirs.send(b"x")
        assert not ours.is_silent

    async with real_pair() as (ours, theirs):
        theirs.close()
        assert not ours.is_silent  # although the loop has not read it

    assert not ours.is_silent
    assert not HttpSocket().is_silent


async def test_what_the_kernel_does_not_take_pauses_and_what_it_takes_resumes() -> None:
    user = User()
    async with real_pair() as (ours, theirs):
        ours.user = user
        while not ours.is_write_paused:
            ours.write(b"x" * 65_536)
        assert ours.unwritten_bytes > 0

        async def read_on() -> None:
            loop = asyncio.get_running_loop()
            while ours.is_write_paused:
                await loop.sock_recv(theirs, 1_048_576)

        await asyncio.wait_for(read_on(), 30)
        assert ours.unwritten_bytes == 0
        assert user.heard == ["resumed"]


def test_before_its_connection_is_made_it_is_closing_and_takes_nothing() -> None:
    made = HttpSocket()

    made.write(b"x")
    made.set_reading(is_reading=True)

    assert (made.is_closing, made.unwritten_bytes) == (True, 0)
