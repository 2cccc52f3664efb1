"""What the library is given to send: its own bytes, packed in C."""

import pytest
from redis.asyncio import Connection

from turnwire.relay.turn_log.redis.address import read
from turnwire.relay.turn_log.redis.clients import Command, _PacksInC, new_client

COMMANDS: list[Command] = [
    (
        "EVALSHA",
        "a" * 40,
        2,
        b"turnwire:{chat}:lease",
        "turnwire:{ch\xe4t}:turn",
        b"",
        b"\xff" * 70_000,
    ),
    ("PING",),
    ("EVALSHA", "b" * 40, 0, 7, b"\x00\r\n"),
]


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1:6379/0",
        "rediss://127.0.0.1:6379/0",
        "redis+sentinel://127.0.0.1:26379/main",
    ],
)
async def test_commands_are_the_bytes_that_the_library_would_send(url: str) -> None:
    client = new_client(read(url))
    connection = client._redis.connection_pool.make_connection()  # type: ignore[attr-defined]
    try:
        packed = b"".join(connection.pack_commands(COMMANDS))
    finally:
        await client.aclose()

    assert isinstance(connection, _PacksInC)
    assert packed == b"".join(Connection().pack_commands(COMMANDS))
