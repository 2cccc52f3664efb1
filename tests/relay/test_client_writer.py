"""The way to the client, without sockets: a send that may wait, and a flow that is told."""

import asyncio
import functools

import pytest

from gateway.waiting import until
from relay.client_that_waits import ALWAYS, Client, ClientEvents, ShortWay, writer
from turnwire.relay.client_writer import ClientWriter


async def test_the_headers_go_out_before_the_first_bytes_and_once() -> None:
    client = Client(ALWAYS)
    to_client, told = writer(client)
    assert not to_client.started

    to_client.write(b"one")
    to_client.write(b"two")

    assert to_client.started
    assert [message["type"] for message in client.messages] == [
        "http.response.start",
        "http.response.body",
        "http.response.body",
    ]
    assert client.messages[0]["headers"] == [(b"a", b"b")]
    assert told.events == []
    assert to_client.bytes_written == 6


async def test_a_write_that_the_client_takes_needs_no_task() -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)
    before = asyncio.all_tasks()

    to_client.write(b"now")

    assert client.body == b"now"
    assert asyncio.all_tasks() == before
    assert not to_client.blocked


async def test_what_came_while_the_client_blocked_follows_in_order() -> None:
    client = Client(2)
    to_client, told = writer(client)
    for data in (b"a", b"b", b"c", b"dd"):
        to_client.write(data)
    assert client.body == b"a"
    assert told.events == ["blocked", 1, 3]

    client.take(ALWAYS)
    await until(lambda: not to_client.blocked)

    assert client.body == b"abcdd"
    assert told.events[3:] == ["progressed"] * 3 + ["unblocked"]


async def test_each_block_counts_what_it_holds_anew() -> None:
    client = Client(2)
    to_client, told = writer(client)
    for data in (b"a", b"b", b"ccc"):
        to_client.write(data)
    client.take(2)
    await until(lambda: not to_client.blocked)
    for data in (b"d", b"ee"):
        to_client.write(data)

    assert [event for event in told.events if isinstance(event, int)] == [3, 2]
    to_client.discard()


async def test_a_long_write_goes_in_pieces_and_tells_of_each() -> None:
    client = Client(3)
    to_client, told = writer(client)
    data = bytes(range(256)) * 2_000
    to_client.write(data)
    assert told.events == ["blocked"], "what one write holds is nobody's backlog"

    client.take(ALWAYS)
    await until(lambda: not to_client.blocked)

    assert client.body == data
    assert max(len(message.get("body", b"")) for message in client.messages) == 65_536
    assert told.events.count("progressed") == 6


@pytest.mark.parametrize("size", [262_144, 262_145])
async def test_only_a_long_write_goes_in_pieces(size: int) -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)
    to_client.write(b"x" * size)

    assert len(client.messages) - 1 == (1 if size == 262_144 else 5)


async def test_the_end_comes_after_what_was_held() -> None:
    client = Client(2)
    to_client, _ = writer(client)
    for data in (b"a", b"b", b"c"):
        to_client.write(data)
    ending = asyncio.ensure_future(to_client.finish(5))
    for _ in range(3):
        await asyncio.sleep(0)  # so that the end waits for room too
    for taken in range(3, 6):
        client.take(1)
        await until(functools.partial(client.has_taken, taken))

    assert await ending
    assert client.body == b"abc"
    assert [message["more_body"] for message in client.messages[1:]] == [True, True, True, False]


async def test_an_end_that_nobody_takes_is_given_up() -> None:
    client = Client(2)
    to_client, _ = writer(client)
    to_client.write(b"a")
    to_client.write(b"b")

    assert not await to_client.finish(0.02)
    to_client.discard()


async def test_a_client_that_takes_some_is_waited_for() -> None:
    """Patience is from one message taken to the next, not for all of them."""
    client = Client(2)
    to_client, _ = writer(client)
    for data in (b"a", b"b", b"c", b"d"):
        to_client.write(data)
    ending = asyncio.ensure_future(to_client.finish(0.1))
    for _ in range(4):
        await asyncio.sleep(0.05)
        client.take(1)

    assert await ending
    assert client.body == b"abcd"


async def test_after_a_discard_nothing_more_is_sent_and_no_task_is_left() -> None:
    before = asyncio.all_tasks()
    client = Client(2)
    to_client, _ = writer(client)
    for data in (b"a", b"b", b"c"):
        to_client.write(data)

    to_client.discard()
    client.take(ALWAYS)
    await until(lambda: asyncio.all_tasks() == before)

    assert client.body == b"a"


async def test_the_end_may_go_along_with_the_last_bytes() -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)

    to_client.write(b"one")
    to_client.write(b"two", is_last=True)

    assert await to_client.finish(1)
    assert [message.get("more_body") for message in client.messages] == [None, True, False]
    assert client.body == b"onetwo"


async def test_an_end_that_waits_for_the_client_is_waited_for() -> None:
    client = Client(2)
    to_client, _ = writer(client)
    to_client.write(b"one")
    to_client.write(b"two", is_last=True)
    finishing = asyncio.create_task(to_client.finish(5))
    await asyncio.sleep(0)
    assert not finishing.done()

    client.take(1)

    assert await finishing
    assert client.body == b"onetwo"
    assert len(client.messages) == 3


async def test_the_end_comes_after_what_is_held() -> None:
    client = Client(1)
    to_client, _ = writer(client)
    to_client.write(b"one")
    to_client.write(b"two", is_last=True)
    client.take(ALWAYS)

    assert await to_client.finish(5)

    assert client.body == b"onetwo"
    assert [message.get("more_body") for message in client.messages] == [None, True, True, False]


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("now", [True, False])
@pytest.mark.parametrize("parts", [[b"a"], [b"a", b"b"], [b"a", b"b", b"c"]])
async def test_whatever_ways_the_server_has_each_byte_goes_once(
    parts: list[bytes],
    head: bool,  # noqa: FBT001 (pytest gives it so)
    now: bool,  # noqa: FBT001
) -> None:
    client = Client(ALWAYS)
    body = ShortWay(client, head=head, now=now)
    to_client = ClientWriter(body.start, [], ClientEvents(), None, body)

    for part in parts:
        assert not body.is_ended
        to_client.write(part, is_last=part is parts[-1])

    assert await to_client.finish(1)
    assert client.body == b"".join(parts)
    assert body.is_ended
    assert client.messages[0]["type"] == "http.response.start"
