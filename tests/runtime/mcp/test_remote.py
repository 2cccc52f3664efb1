"""A server is connected as long as it is there, and its tools fail by name when it is not."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.waiting import PATIENCE_S
from runtime.mcp.stage import CONTEXT, TEXT, FakeServer, FakeSession, until
from turnwire_agent.mcp import remote
from turnwire_agent.mcp.errors import GoneError, ProtocolError, QuestionError, SilentError
from turnwire_agent.mcp.remote import McpResultError, RemoteServer
from turnwire_agent.mcp.settings import Program, Server
from turnwire_agent.tools.contract import ToolFailed

READ = {"name": "read", "inputSchema": TEXT}
SERVER = Server(name="files", place=Program(command="server"))


@asynccontextmanager
async def running(fake: FakeServer, backoff_s: float = 0.01) -> AsyncIterator[RemoteServer]:
    server = RemoteServer(SERVER, fake, backoff_s)
    task = asyncio.create_task(server.run())
    yield server
    server.stop()
    async with asyncio.timeout(PATIENCE_S):
        await task


async def read(server: RemoteServer) -> Any:
    (tool,) = (await server.offer()).tools
    return await tool.call({}, CONTEXT)


def session_of(fake: FakeServer) -> FakeSession:
    assert fake.session
    return fake.session


async def test_its_tools_are_there_once_it_is_connected() -> None:
    async with running(FakeServer([READ])) as server:
        await server.tried()

        assert [tool.name for tool in (await server.offer()).tools] == ["files.read"]
        assert await read(server) == "done"


async def test_it_is_asked_again_only_when_it_says_that_its_tools_changed() -> None:
    fake = FakeServer([READ])
    async with running(fake) as server:
        await server.tried()
        held = await server.offer()
        fake.tools = [{**READ, "name": "write"}]
        assert await server.offer() == held
        session_of(fake).news = True

        assert [tool.name for tool in (await server.offer()).tools] == ["files.write"]
        assert await server.offer() == await server.offer()
        assert fake.listings == 2
        assert [tool.name for tool in held.tools] == ["files.read"]


async def test_old_tools_stay_where_a_new_listing_fails() -> None:
    fake = FakeServer([READ])
    async with running(fake) as server:
        await server.tried()
        session_of(fake).news, fake.raises = True, SilentError("no listing in time")

        offer = await server.offer()

        assert [tool.name for tool in offer.tools] == ["files.read"]
        assert [each.why for each in offer.problems] == [
            "its tools are not listed: no listing in time"
        ]

        fake.raises, fake.tools = None, [{**READ, "name": "write"}]
        after = await server.offer()
        assert [tool.name for tool in after.tools] == ["files.write"]
        assert after.problems == ()
        assert (await server.offer(), fake.listings) == (after, 3)


async def test_a_server_that_is_gone_fails_by_name_and_comes_back() -> None:
    fake = FakeServer([READ])
    async with running(fake) as server:
        await server.tried()
        (held,) = (await server.offer()).tools
        fake.reachable = False
        fake.die()
        await until(lambda: fake.attempts > 1)

        offer = await server.offer()
        assert offer.tools == (held,)
        assert [each.why for each in offer.problems] == [
            "the server is not connected: nobody is there"
        ]
        with pytest.raises(ToolFailed, match="The server 'files' of this tool is not connected"):
            await held.call({}, CONTEXT)

        fake.reachable = True
        await fake.connected.wait()
        await until(lambda: fake.listings == 2)
        await until(lambda: server.connected)
        assert (await server.offer()).problems == ()
        assert await read(server) == "done"
        with pytest.raises(ToolFailed, match="is not connected"):
            await held.call({}, CONTEXT)  # the tool of a turn that began before


async def test_nobody_waits_for_a_server_that_is_not_there() -> None:
    async with running(FakeServer(reachable=False)) as server:
        await server.tried()

        offer = await server.offer()

        assert offer.tools == ()
        assert [each.tool for each in offer.problems] == [""]


async def test_a_server_that_lists_nothing_counts_as_gone() -> None:
    fake = FakeServer([READ], raises=ProtocolError("the error -1 of the protocol", "canary"))
    async with running(fake) as server:
        await server.tried()
        await until(lambda: fake.attempts > 1)

        (problem,) = (await server.offer()).problems

        assert "the error -1 of the protocol" in problem.why
        assert "canary" not in problem.why


async def test_waits_between_attempts_double_up_to_a_bound(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "BACKOFF_MAX_S", 0.005)
    caplog.set_level(logging.WARNING, "turnwire_agent.mcp")
    fake = FakeServer(reachable=False)
    async with running(fake, 0.001):
        await until(lambda: fake.attempts > 5)

    waits = [record.args[2] for record in caplog.records if isinstance(record.args, tuple)]
    assert waits[:5] == [0.001, 0.002, 0.004, 0.005, 0.005]


async def test_a_server_that_was_there_for_long_is_tried_again_soon(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "STEADY_S", 0.0)
    caplog.set_level(logging.WARNING, "turnwire_agent.mcp")
    fake = FakeServer(reachable=False)
    async with running(fake, 0.001):
        await until(lambda: fake.attempts > 3)

    waits = {record.args[2] for record in caplog.records if isinstance(record.args, tuple)}
    assert waits == {0.001}


class Slow(FakeServer):
    """It does not answer, and does not end."""

    async def __aenter__(self) -> FakeSession:
        self.connected.set()
        await asyncio.Event().wait()
        raise AssertionError


async def test_nobody_waits_for_a_task_that_has_ended() -> None:
    slow = Slow()
    server = RemoteServer(SERVER, slow)
    task = asyncio.create_task(server.run())
    await slow.connected.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    async with asyncio.timeout(PATIENCE_S):
        await server.tried()


@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        (GoneError("the connection ended"), ToolFailed, "is gone. Whether the tool did its work"),
        (SilentError("no answer in time"), ToolFailed, "did not answer within 60 s"),
        (QuestionError(), ToolFailed, "asks for more input"),
        (ProtocolError("the error -32603 of the protocol", "canary"), McpResultError, "-32603"),
    ],
)
async def test_a_call_without_a_result(
    raised: Exception, kind: type[Exception], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "turnwire_agent.mcp")
    fake = FakeServer([READ])
    async with running(fake) as server:
        await server.tried()
        (tool,) = (await server.offer()).tools
        fake.raises = raised

        with pytest.raises(kind, match=words) as failed:
            await tool.call({}, CONTEXT)

    assert "canary" not in str(failed.value)
    assert "canary" not in caplog.text


async def test_details_of_a_fault_are_in_the_log_for_who_asks_for_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "turnwire_agent.mcp")
    fake = FakeServer([READ])
    async with running(fake) as server:
        await server.tried()
        (tool,) = (await server.offer()).tools
        fake.raises = ProtocolError("the error -1 of the protocol", "no such\ntable")
        with pytest.raises(McpResultError):
            await tool.call({}, CONTEXT)

    assert "details: 'no such\\ntable'" in caplog.text
