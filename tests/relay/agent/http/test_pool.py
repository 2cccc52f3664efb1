"""Sockets that wait for their next request: which are taken, which are given up, and when."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from gateway.waiting import until
from support.http_dialect import CHUNKED, END, HEAD, chunk, sized
from support.http_socket import real_pair
from turnwire.relay.agent.dialer import Address
from turnwire.relay.agent.http import pool as pooling
from turnwire.relay.agent.http.pool import IDLE_MAX, LIFETIME_S, HttpStats, Pool
from turnwire.relay.agent.http.response import ResponseReader
from turnwire.relay.agent.http.socket import HttpSocket

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def no_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here ends by its time, unless a test says so."""
    monkeypatch.setattr(pooling, "IDLE_S", 600)
    monkeypatch.setattr(pooling, "REST_S", 600)


HERE, THERE = Address("h", 80, is_tls=False), Address("h", 443, is_tls=True)


def complete(fields: bytes = b"") -> ResponseReader:
    reader = ResponseReader()
    reader.read(sized(b"", HEAD + fields))
    return reader


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def pairs(stack: AsyncExitStack, count: int) -> list[tuple[HttpSocket, socket.socket]]:
    return [await stack.enter_async_context(real_pair()) for _ in range(count)]


async def test_the_newest_one_of_the_address_is_taken(stack: AsyncExitStack) -> None:
    pool = Pool(HttpStats())
    first, second, elsewhere = [ours for ours, _ in await pairs(stack, 3)]
    pool.keep(HERE, first, complete())
    pool.keep(HERE, second, complete())
    pool.keep(THERE, elsewhere, complete())
    assert len(pool) == 3

    assert pool.take(HERE) is second
    assert pool.take(HERE) is first
    assert pool.take(HERE) is None
    assert pool.take(THERE) is elsewhere
    assert len(pool) == 0
    assert first.is_reused
    assert not first.is_closing


async def test_what_the_server_closed_or_spoke_into_is_not_taken(stack: AsyncExitStack) -> None:
    pool = Pool(HttpStats())
    (closed, far), (spoken, farther), (good, _) = await pairs(stack, 3)
    for ours in (good, closed, spoken):
        pool.keep(HERE, ours, complete())
    far.close()
    farther.send(b"x")

    assert pool.take(HERE) is good
    assert (closed.is_closing, spoken.is_closing, len(pool)) == (True, True, 0)


@pytest.mark.parametrize("speaks", [True, False])
async def test_the_loop_notices_it_too(stack: AsyncExitStack, *, speaks: bool) -> None:
    pool = Pool(HttpStats())
    ((ours, theirs),) = await pairs(stack, 1)
    pool.keep(HERE, ours, complete())

    if speaks:
        theirs.send(b"x")
    else:
        theirs.close()

    await until(lambda: len(pool) == 0)
    assert ours.is_closing


async def test_a_socket_that_is_lost_is_forgotten(stack: AsyncExitStack) -> None:
    pool = Pool(HttpStats())
    ((ours, _),) = await pairs(stack, 1)
    pool.keep(HERE, ours, complete())
    ours.cut()

    await until(lambda: len(pool) == 0)


async def test_it_is_closed_after_its_time(
    stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooling, "IDLE_S", 0.01)
    pool = Pool(HttpStats())
    ((ours, _),) = await pairs(stack, 1)
    pool.keep(HERE, ours, complete())

    await until(lambda: ours.is_closing)
    assert len(pool) == 0


async def test_it_is_closed_before_the_server_closes_it(
    stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooling, "MARGIN_S", 4.99)
    pool = Pool(HttpStats())
    ((ours, _),) = await pairs(stack, 1)
    pool.keep(HERE, ours, complete(b"Keep-Alive: timeout=5\r\n"))
    assert len(pool) == 1

    await until(lambda: ours.is_closing)
    assert len(pool) == 0


async def test_each_is_closed_after_its_own_time(
    stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One timer is for all of them: it is set anew for whoever comes next."""
    monkeypatch.setattr(pooling, "MARGIN_S", 0.95)
    pool = Pool(HttpStats())
    (early, _), (usual, _), (late, _) = await pairs(stack, 3)
    monkeypatch.setattr(pooling, "IDLE_S", 0.15)
    pool.keep(HERE, usual, complete())
    pool.keep(HERE, early, complete(b"Keep-Alive: timeout=1\r\n"))
    monkeypatch.setattr(pooling, "IDLE_S", 600)
    pool.keep(HERE, late, complete())

    await until(lambda: early.is_closing)
    assert not usual.is_closing
    await until(lambda: usual.is_closing)
    assert (len(pool), late.is_closing) == (1, False)


@pytest.mark.parametrize(
    "fields",
    [
        b"Keep-Alive: timeout=1\r\n",
        b"Keep-Alive: timeout=9, max=0\r\n",
        b"Connection: close\r\n",
    ],
)
async def test_one_that_the_server_closes_at_once_is_not_kept(
    stack: AsyncExitStack, fields: bytes
) -> None:
    pool = Pool(HttpStats())
    ((ours, _),) = await pairs(stack, 1)

    pool.keep(HERE, ours, complete(fields))

    assert (len(pool), ours.is_closing) == (0, True)


async def test_one_whose_timer_is_late_is_not_taken(stack: AsyncExitStack) -> None:
    """The loop was busy meanwhile: the server may be about to close the connection."""
    pool = Pool(HttpStats())
    ((ours, _),) = await pairs(stack, 1)
    pool.keep(HERE, ours, complete())
    (idle,) = pool._idle[HERE]
    idle.until -= pooling.IDLE_S

    assert pool.take(HERE) is None
    assert ours.is_closing


async def test_one_that_is_closing_or_too_old_is_not_kept(stack: AsyncExitStack) -> None:
    pool = Pool(HttpStats())
    (closing, _), (old, _) = await pairs(stack, 2)
    closing.cut()
    old.made_at -= LIFETIME_S + 1

    pool.keep(HERE, closing, complete())
    pool.keep(HERE, old, complete())

    assert len(pool) == 0
    assert old.is_closing


async def test_their_number_has_a_bound(stack: AsyncExitStack) -> None:
    pool = Pool(HttpStats())
    many = await pairs(stack, IDLE_MAX + 1)
    for ours, _ in many:
        pool.keep(HERE, ours, complete())

    assert len(pool) == IDLE_MAX
    assert many[-1][0].is_closing


def response() -> ResponseReader:
    reader = ResponseReader()
    reader.read(CHUNKED + chunk(b"x"))
    return reader


async def test_the_rest_of_a_response_is_dropped_and_its_socket_kept(
    stack: AsyncExitStack,
) -> None:
    pool = Pool(HttpStats())
    ((ours, theirs),) = await pairs(stack, 1)
    ours.set_reading(is_reading=False)
    pool.keep_after_rest(HERE, ours, response())
    assert (len(pool), ours.is_closing) == (0, False)

    theirs.send(chunk(b"more"))
    theirs.send(END)

    await until(lambda: len(pool) == 1)
    assert pool.take(HERE) is ours


@pytest.mark.parametrize(
    "rest",
    [b"no chunk\r\n", END + b"more", b"", chunk(b"x" * 200_000) * 6],
    ids=["broken", "behind", "closed", "long"],
)
async def test_a_rest_that_is_not_usual_ends_its_socket(stack: AsyncExitStack, rest: bytes) -> None:
    pool = Pool(HttpStats())
    ((ours, theirs),) = await pairs(stack, 1)
    pool.keep_after_rest(HERE, ours, response())

    if rest:
        loop = asyncio.get_running_loop()
        sending = asyncio.create_task(loop.sock_sendall(theirs, rest))
        await until(lambda: ours.is_closing)
        await asyncio.wait([sending])
        sending.exception()
    else:
        theirs.close()

    await until(lambda: ours.is_closing)
    assert len(pool) == 0


async def test_a_rest_that_does_not_end_is_given_up(
    stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooling, "REST_S", 0.01)
    pool = Pool(HttpStats())
    ((ours, _),) = await pairs(stack, 1)
    pool.keep_after_rest(HERE, ours, response())

    await until(lambda: ours.is_closing)


async def test_a_rest_whose_socket_is_lost_is_forgotten(stack: AsyncExitStack) -> None:
    pool = Pool(HttpStats())
    ((ours, _),) = await pairs(stack, 1)
    pool.keep_after_rest(HERE, ours, response())
    ours.cut()

    await until(lambda: not pool._rests)


async def test_a_rest_after_which_the_server_closes_is_the_last_one(stack: AsyncExitStack) -> None:
    pool = Pool(HttpStats())
    ((ours, theirs),) = await pairs(stack, 1)
    reader = ResponseReader()
    reader.read(CHUNKED.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
    pool.keep_after_rest(HERE, ours, reader)
    theirs.send(END)

    await until(lambda: ours.is_closing)
    assert len(pool) == 0


async def test_all_are_closed_at_the_end(stack: AsyncExitStack) -> None:
    pool = Pool(HttpStats())
    (idle, _), (resting, _) = await pairs(stack, 2)
    pool.keep(HERE, idle, complete())
    pool.keep_after_rest(HERE, resting, response())

    pool.close()

    assert (idle.is_closing, resting.is_closing, len(pool)) == (True, True, 0)
