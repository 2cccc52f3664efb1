"""The bridge over real sockets, with the client of the library `websockets`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bridge.programs import ECHO, PARENT, leaving, program, runs, writing
from gateway.waiting import until
from turnwire.bridge.server import PING_S, Bridge

pytestmark = pytest.mark.sockets

TOKEN = "a-token-of-the-bridge"
LIMIT = 65_536
LINES = 4_000
TELLING_ITS_ID = program("import os, sys; print(os.getpid(), flush=True); sys.stdin.read()")


class Running:
    def __init__(self, port: int, told: list[str]) -> None:
        self.port = port
        self.told = told

    def connect(self, token: str = TOKEN, **options: Any) -> connect:
        headers = {"authorization": f"Bearer {token}", **options.pop("headers", {})}
        url = f"ws://127.0.0.1:{self.port}/?session=s1"
        return connect(url, additional_headers=headers, proxy=None, max_size=None, **options)


@asynccontextmanager
async def bridge(
    command: list[str], connections_max: int = 8, ping_s: float = PING_S
) -> AsyncIterator[Running]:
    told: list[str] = []
    made = Bridge(
        command,
        TOKEN,
        frame_bytes=LIMIT,
        connections_max=connections_max,
        say=told.append,
        ping_s=ping_s,
    )
    async with made.listening(0) as port:
        yield Running(port, told)


async def read_to_the_end(connection: ClientConnection) -> int:
    """Read until the connection is closed. Returns how many frames came."""
    count = 0
    try:
        while True:
            await connection.recv()
            count += 1
    except ConnectionClosed:
        return count


async def code_of(connection: ClientConnection) -> int | None:
    await read_to_the_end(connection)
    return connection.close_code


async def test_frames_are_lines_and_lines_are_frames() -> None:
    async with bridge(ECHO) as running, running.connect() as connection:
        for n in range(100):
            await connection.send(f'{{"n":{n}}}')
        told = [await connection.recv() for _ in range(100)]

    assert told == [f'got {{"n":{n}}}' for n in range(100)]


async def test_each_connection_has_a_process_of_its_own_which_ends_with_it() -> None:
    async with bridge(TELLING_ITS_ID) as running:
        async with running.connect() as one, running.connect() as other:
            ids = {int(await each.recv()) for each in (one, other)}
            assert all(map(runs, ids))
        await until(lambda: not any(map(runs, ids)))
        await until(lambda: len(running.told) == 4)

    assert len(ids) == 2


async def test_one_that_is_lost_ends_its_process() -> None:
    async with bridge(PARENT) as running:
        connection = await running.connect()
        await connection.recv()
        connection.transport.abort()
        await until(lambda: len(running.told) == 2)


async def test_a_process_that_ends_closes_its_connection_behind_its_last_word() -> None:
    async with bridge(program("print('bye')")) as running, running.connect() as connection:
        assert await connection.recv() == "bye"
        assert await code_of(connection) == 1000


async def test_a_process_that_ends_closes_its_connection_though_a_child_holds_its_output() -> None:
    ended = leaving("import time; time.sleep(60)", "'bye'")
    async with bridge(ended) as running, running.connect() as connection:
        child = int(await connection.recv())
        assert await connection.recv() == "bye"
        assert await code_of(connection) == 1000
        await until(lambda: not runs(child))


async def test_a_stop_ends_all_processes() -> None:
    async with bridge(TELLING_ITS_ID) as running:
        connection = await running.connect()
        pid = int(await connection.recv())
        reading = asyncio.create_task(code_of(connection))
    assert await reading == 1001
    assert not runs(pid)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"token": "another-token-than-it"}, 401),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
async def test_nobody_else_gets_a_process(options: dict[str, Any], status: int) -> None:
    async with bridge(ECHO) as running:
        with pytest.raises(InvalidStatus) as refused:
            await running.connect(**options)
        assert refused.value.response.status_code == status
        assert running.told == []


async def test_one_more_than_there_may_be_is_refused_until_another_left() -> None:
    async with bridge(ECHO, connections_max=1) as running:
        async with running.connect() as connection:
            await connection.send("x")
            await connection.recv()
            with pytest.raises(InvalidStatus) as refused:
                await running.connect()
            assert refused.value.response.status_code == 503
        await until(lambda: len(running.told) == 2)
        async with running.connect() as connection:
            await connection.send("y")
            assert await connection.recv() == "got y"


async def test_of_a_crowd_no_more_than_there_may_be_get_a_process() -> None:
    async def try_one() -> str:
        try:
            async with running.connect() as connection:
                await connection.send("x")
                return str(await connection.recv())
        except (InvalidStatus, ConnectionClosed):
            return "refused"

    async with bridge(ECHO, connections_max=2) as running:
        said = await asyncio.gather(*(try_one() for _ in range(12)))
        began = sum("began" in line for line in running.told)
    assert began == said.count("got x") <= 12
    assert said.count("refused") >= 1


@pytest.mark.parametrize(
    ("command", "code"),
    [(writing(f"b'x' * {LIMIT + 2}"), 1009), (writing(r"b'\xff\n'"), 1007)],
    ids=["too long", "no text"],
)
async def test_a_line_that_cannot_be_carried_ends_it(command: list[str], code: int) -> None:
    async with bridge(command) as running, running.connect() as connection:
        assert await code_of(connection) == code


@pytest.mark.parametrize(
    ("message", "code"), [("x" * (LIMIT + 1), 1009), (b"bytes", 1003)], ids=["too long", "binary"]
)
async def test_a_frame_that_cannot_be_carried_ends_it(message: str | bytes, code: int) -> None:
    async with bridge(ECHO) as running, running.connect() as connection:
        await connection.send(message)
        assert await code_of(connection) == code


async def test_a_client_that_reads_nothing_does_not_fill_the_memory() -> None:
    # 200 MB that nobody takes: the process is not read, and waits.
    flood = program(f"for _ in range({LINES}): print('x' * 50_000, flush=True)")
    async with bridge(flood) as running:
        connection = await running.connect(max_queue=1)
        await asyncio.sleep(1)
        assert len(running.told) == 1  # it has not ended
        assert await read_to_the_end(connection) == LINES


async def test_a_command_that_is_gone_closes_the_connection() -> None:
    async with bridge(["./there-is-no-such-command"]) as running, running.connect() as connection:
        assert await code_of(connection) == 1011
        assert running.told == ["a process cannot be started: No such file or directory"]


async def test_a_client_that_leaves_while_the_process_reads_nothing_ends_it() -> None:
    sleeping = program("import time; time.sleep(60)")
    async with bridge(sleeping, connections_max=1, ping_s=0.5) as running:
        connection = await running.connect(close_timeout=0.1)  # the bridge does not read its close
        for _ in range(20):
            await connection.send("x" * 60_000)
        await connection.close()
        await until(lambda: len(running.told) == 2)
        async with running.connect():
            pass
