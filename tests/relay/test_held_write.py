"""The first write of a response may wait for the next one, so that both are one."""

import asyncio

import pytest

from relay.client_that_waits import ALWAYS, Client, ClientEvents, ShortWay, writer
from turnwire.relay.client_writer import ClientWriter, Message


async def test_a_first_write_that_is_held_goes_along_with_the_next() -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)
    to_client.hold_first()

    to_client.write(b"one")
    assert (to_client.started, client.messages) == (True, [])
    to_client.write(b"two")
    to_client.write(b"three")

    assert [message.get("body") for message in client.messages] == [None, b"onetwo", b"three"]
    assert to_client.bytes_written == 11
    await asyncio.sleep(0)
    assert client.body == b"onetwothree"


async def test_a_first_write_that_nothing_follows_goes_out_in_the_next_step_of_the_loop() -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)
    to_client.hold_first()

    to_client.write(b"one")
    await asyncio.sleep(0)

    assert client.body == b"one"
    assert await to_client.finish(1)
    assert [message.get("more_body") for message in client.messages] == [None, True, False]


async def test_a_first_write_that_is_held_is_not_lost_at_the_end() -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)
    to_client.hold_first()

    to_client.write(b"one")

    assert await to_client.finish(1)
    assert client.body == b"one"
    assert [message.get("more_body") for message in client.messages] == [None, False]


async def test_a_first_write_that_is_held_is_discarded_with_the_rest() -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)
    to_client.hold_first()

    to_client.write(b"one")
    to_client.discard()
    await asyncio.sleep(0)

    assert client.messages == []


async def test_a_first_write_is_not_held_once_the_response_began() -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)
    to_client.write(b"one")

    to_client.hold_first()
    to_client.write(b"two")

    assert client.body == b"onetwo"


@pytest.mark.parametrize("with_body", [True, False])
async def test_nothing_is_held_behind_a_first_write_that_is_long(
    with_body: bool,  # noqa: FBT001 (pytest gives it so)
) -> None:
    client = Client(ALWAYS)
    body = ShortWay(client, head=True, now=True) if with_body else None
    send = client.send if body is None else body.start
    to_client = ClientWriter(send, [], ClientEvents(), None, body)
    to_client.hold_first()

    for part in (b"a" * 300_000, b"second", b"third"):
        to_client.write(part)

    assert client.body == b"a" * 300_000 + b"secondthird"
    assert await to_client.finish(1)
    assert client.body == b"a" * 300_000 + b"secondthird"


async def test_a_server_that_cannot_send_the_held_write_is_no_bug_of_the_loop() -> None:
    bugs: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: bugs.append(context))

    async def send(_: Message) -> None:
        raise BrokenPipeError

    to_client = ClientWriter(send, [], ClientEvents())
    to_client.hold_first()
    to_client.write(b"one")
    await asyncio.sleep(0)

    assert bugs == []


async def test_no_body_is_ended_whose_head_was_discarded() -> None:
    client = Client(ALWAYS)
    to_client, _ = writer(client)
    to_client.hold_first()
    to_client.write(b"one")
    to_client.discard()

    assert await to_client.finish(1)
    assert client.messages == []
