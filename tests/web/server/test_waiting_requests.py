"""Requests that came with many others, and wait for their turn."""

import asyncio
from typing import Any

from uvicorn.config import Config
from uvicorn.server import ServerState

from turnwire.relay.rounds import ENTRIES_PER_ROUND, Rounds
from turnwire.web.server.http_protocol import HttpConnection
from web.server.written import WrittenTransport

ASKED = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


class Line(WrittenTransport):
    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.reads = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


class Server:
    """A server whose door is closed."""

    def __init__(self) -> None:
        self.served: list[str] = []
        self.rounds = Rounds()
        self._config = Config(self._app, interface="asgi3", log_config=None)
        self._config.load()
        self.shut()

    def shut(self) -> None:
        while self.rounds.door.is_open():
            pass

    def connected(self, *, head_s: float = 10.0) -> tuple[HttpConnection, Line]:
        connection, line = (
            HttpConnection(self._config, ServerState(), {}, rounds=self.rounds),
            Line(),
        )
        connection.head_s = head_s
        connection.connection_made(line)
        return connection, line

    async def _app(self, scope: dict[str, Any], _receive: object, send: Any) -> None:
        self.served.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def rounds_of_the_loop(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_request_waits_for_the_next_round_and_nothing_is_read_meanwhile() -> None:
    server = Server()
    connection, line = server.connected()

    connection.data_received(ASKED[:9])
    connection.data_received(ASKED[9:])
    assert (server.served, line.reads) == ([], False)
    await rounds_of_the_loop()

    assert (server.served, line.reads) == (["/"], True)
    assert line.written.startswith(b"HTTP/1.1 200 ")


async def test_a_request_that_waits_is_answered_when_the_server_stops() -> None:
    """It was read, so nobody may send it to another gateway; nor is its connection idle."""
    server = Server()
    connection, line = server.connected()
    connection.data_received(ASKED)

    connection.shutdown()
    await rounds_of_the_loop()

    assert server.served == ["/"]
    assert line.written.startswith(b"HTTP/1.1 200 ")


async def test_a_client_that_left_meanwhile_is_not_served() -> None:
    server = Server()
    connection, line = server.connected()
    connection.data_received(ASKED)

    line.closed = True
    connection.connection_lost(None)
    await rounds_of_the_loop()

    assert server.served == []


async def test_the_time_of_a_head_stands_still_while_it_waits() -> None:
    server = Server()
    connection, line = server.connected(head_s=0.05)
    connection.data_received(ASKED[:9])

    for _ in range(20):  # what is longer than its time
        server.rounds.door.wait(lambda: True, is_new=True)
    assert connection._timeout is None
    await rounds_of_the_loop()
    assert connection._timeout is not None
    assert connection._timeout.when() <= asyncio.get_running_loop().time() + 0.05
    await asyncio.sleep(0.06)

    assert line.closed


async def test_a_part_of_a_head_takes_no_place() -> None:
    server = Server()
    await rounds_of_the_loop()
    for _ in range(3 * ENTRIES_PER_ROUND):
        connection, line = server.connected()
        connection.data_received(ASKED[:9])
        assert line.reads
    for _ in range(ENTRIES_PER_ROUND):
        connection, line = server.connected()
        connection.data_received(ASKED)
        assert line.reads
    connection, line = server.connected()
    connection.data_received(ASKED)

    assert not line.reads


REFUSED = b"POST /refused HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n"


async def answered_unread() -> tuple[Server, HttpConnection, Line]:
    """A connection whose request has its answer, though its body did not come yet."""
    server = Server()
    await rounds_of_the_loop()
    connection, line = server.connected()
    connection.data_received(REFUSED)
    await rounds_of_the_loop(6)
    assert server.served.pop() == "/refused"
    server.shut()
    return server, connection, line


async def test_a_request_behind_a_body_that_nobody_read_waits_like_others() -> None:
    server, connection, line = await answered_unread()
    other, _ = server.connected()
    other.data_received(ASKED.replace(b"/", b"/before", 1))

    connection.data_received(b"{}" + ASKED)
    assert not line.reads
    await rounds_of_the_loop()

    assert sorted(server.served) == ["/", "/before"]


async def test_the_rest_of_such_a_body_has_its_time_all_the_same() -> None:
    _, connection, line = await answered_unread()

    connection.data_received(b"{")
    assert not line.reads
    await rounds_of_the_loop()

    assert line.reads
    assert connection._timeout is not None


async def test_the_next_head_has_a_time_of_its_own() -> None:
    _, connection, _ = await answered_unread()
    connection._set_timeout(0.2)  # what is left of the body's time

    connection.data_received(b"{}" + ASKED[:9])
    await rounds_of_the_loop()

    assert connection._timeout is not None
    assert connection._timeout.when() > asyncio.get_running_loop().time() + 5


async def test_an_empty_line_takes_no_place() -> None:
    server = Server()
    connections = []
    for _ in range(ENTRIES_PER_ROUND):
        await rounds_of_the_loop()
        connections.append(server.connected()[0])
        connections[-1].data_received(ASKED)
        await rounds_of_the_loop()

    for connection in connections:
        connection.data_received(b"\r\n")
    newcomer, line = server.connected()
    newcomer.data_received(ASKED)

    assert line.reads
