"""What is sent: the bytes that the library would send."""

import pytest
from redis.asyncio import Connection

from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.address import read
from turnwire.relay.turn_log.redis.batches import _joined
from turnwire.relay.turn_log.redis.clients import Command, Packed, _SendsPacked, new_client
from turnwire.relay.turn_log.redis.servers import Call, Servers, call_of

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
async def test_other_commands_are_the_bytes_that_the_library_would_send(url: str) -> None:
    client = new_client(read(url))
    connection = client._redis.connection_pool.make_connection()  # type: ignore[attr-defined]
    try:
        packed = b"".join(connection.pack_commands(COMMANDS))
    finally:
        await client.aclose()

    assert isinstance(connection, _SendsPacked)
    assert packed == b"".join(Connection().pack_commands(COMMANDS))


@pytest.mark.parametrize(
    "call",
    [
        call_of(scripts.FIND, "chat", ""),
        call_of(scripts.SEND, "ch\xe4t", "t", "1", b"\xff\r\n" * 9_000, 60_000),
        _joined([call_of(scripts.APPEND, chat, "t", 7, b"", -7) for chat in "aba"]),
    ],
)
async def test_a_call_is_the_bytes_that_the_library_would_send(call: Call) -> None:
    one, many = (Servers(read(f"{kind}://127.0.0.1:6379")) for kind in ("redis+cluster", "redis"))
    connection = many._client._redis.connection_pool.make_connection()  # type: ignore[attr-defined]
    try:
        plain, packed = (servers._command("EVALSHA", call) for servers in (one, many))
    finally:
        await one.aclose()
        await many.aclose()

    assert isinstance(packed, Packed)
    assert not isinstance(plain, Packed)
    assert connection.pack_command("", packed) == [packed.data]
    assert packed.data == b"".join(Connection().pack_command(*plain))
