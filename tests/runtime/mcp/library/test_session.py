"""Calls by the library: cancelled, silent, refused, changed, bounded."""

import asyncio
import logging
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.mcp.stage import TEXT, Faulty, called, tool_of, until
from turnwire_agent.mcp.remote import McpResultError
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import Bounds
from turnwire_agent.tools.contract import Context, ToolFailed
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread

pytestmark = pytest.mark.sockets
WORDS: Final = {
    "faulty.echo": "{}",
    "faulty.fail": "no",
    "faulty.refuse": "The tool failed.",
}


@pytest.fixture
def faulty(tmp_path: Path) -> Faulty:
    return Faulty(tmp_path)


async def test_who_cancels_a_call_cancels_it_at_the_server(faulty: Faulty) -> None:
    async with McpServers([faulty.server()]) as servers:
        tools = (await servers.snapshot()).tools
        task = asyncio.create_task(called(tools, "faulty.hang"))
        await until(lambda: faulty.asked("tools/call"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: faulty.asked("notifications/cancelled"))

        (call,), (cancelled,) = faulty.asked("tools/call"), faulty.asked("notifications/cancelled")
        assert cancelled["params"]["requestId"] == call["id"]
        assert await called(tools, "faulty.echo") == "{}"


async def test_a_turn_that_is_stopped_stops_the_tool_at_its_server(faulty: Faulty) -> None:
    """A turn runs its tools in a thread of theirs, and never waits for one that it stopped."""
    thread = ToolThread()
    async with McpServers([faulty.server()]) as servers:
        tools = (await servers.snapshot()).tools
        runner = ToolRunner(thread)
        for name in ("faulty.echo", "faulty.fail", "faulty.refuse"):
            ended = await runner.run(tool_of(tools, name), {}, Context(call_id="c1", key="k1"))
            assert ended.parts == (WORDS[name],)
        hanging = runner.run(tool_of(tools, "faulty.hang"), {}, Context(call_id="c2", key="k2"))
        task = asyncio.create_task(hanging)
        await until(lambda: len(faulty.asked("tools/call")) == 4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: faulty.asked("notifications/cancelled"))
    thread.close()


async def test_a_call_has_a_time_and_is_cancelled_when_it_is_over(faulty: Faulty) -> None:
    async with McpServers([faulty.server(settings={"call_s": 0.2})]) as servers:
        tools = (await servers.snapshot()).tools

        with pytest.raises(ToolFailed, match=r"The tool did not answer within 0.2 s\."):
            await called(tools, "faulty.hang")
        await until(lambda: faulty.asked("notifications/cancelled"))
        assert await called(tools, "faulty.echo") == "{}"


async def test_a_server_that_does_not_read_keeps_nobody(faulty: Faulty) -> None:
    """What does not fit into its pipe is not written, and waits no longer than an answer would."""
    async with McpServers([faulty.server(settings={"call_s": 0.5})]) as servers:
        tools = (await servers.snapshot()).tools
        with pytest.raises(ToolFailed, match="did not answer"):
            await called(tools, "faulty.sleep")
        for _ in range(3):
            with pytest.raises(ToolFailed, match="did not answer"):
                await called(tools, "faulty.echo", text="x" * 1_000_000)


async def test_a_changed_listing_is_seen_by_the_next_snapshot_alone(faulty: Faulty) -> None:
    async with McpServers([faulty.server()]) as servers:
        before = (await servers.snapshot()).tools
        assert await called(before, "faulty.change") == "changed"
        assert len(faulty.asked("tools/list")) == 1

        after = (await servers.snapshot()).tools

    old, new = tool_of(before, "faulty.echo"), tool_of(after, "faulty.echo")
    assert old.schema["properties"]["text"] == {"type": "string"}
    assert new.schema["properties"]["text"] == {"type": "integer"}
    assert old.digest != new.digest


@pytest.mark.parametrize("name", ["refuse", "nonsense"])
async def test_an_error_of_the_protocol_is_ours_and_not_for_the_model(
    faulty: Faulty, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with McpServers([faulty.server()]) as servers:
        tools = (await servers.snapshot()).tools

        with pytest.raises(McpResultError) as failed:
            await called(tools, f"faulty.{name}")
        assert await called(tools, "faulty.echo") == "{}"

    assert "canary" not in str(failed.value)
    assert "canary" not in caplog.text
    assert f"tool='faulty.{name}' no result" in caplog.text


async def test_a_tool_that_fails_says_so_in_its_words(faulty: Faulty) -> None:
    async with McpServers([faulty.server()]) as servers:
        with pytest.raises(ToolFailed, match=r"^no$"):
            await called((await servers.snapshot()).tools, "faulty.fail")


@pytest.mark.parametrize(
    ("options", "names", "why"),
    [
        ({"able": False}, [], []),
        ({"endless": True}, ["faulty.t0"], ["another tool has its name", "more than 25 tools"]),
        ({"large": 200_000}, ["faulty.echo"], ["its schema has more than 100000 bytes"]),
        ({"more": [{"name": "", "inputSchema": TEXT}]}, ["faulty.echo"], ["has a name"]),
        ({"more": [{"name": "read", "inputSchema": 5}]}, [], ["an answer that is none"]),
    ],
)
async def test_a_hostile_listing_is_bounded(
    faulty: Faulty, options: dict[str, Any], names: list[str], why: list[str]
) -> None:
    server = faulty.server(settings={"bounds": Bounds(tools=25)}, **options)
    async with McpServers([server]) as servers:
        snapshot = await servers.snapshot()

    assert [tool.name for tool in snapshot.tools][:1] == names
    for words in why:
        assert any(words in problem.why for problem in snapshot.problems)
    assert bool(snapshot.problems) == bool(why)
    assert len(faulty.asked("tools/list")) <= 3


async def test_a_server_that_lists_nothing_in_time_is_a_problem(faulty: Faulty) -> None:
    server = faulty.server(unlisted=True, settings={"connect_s": 0.7})
    async with McpServers([server], backoff_s=60) as servers:
        (problem,) = (await servers.snapshot()).problems

    assert problem.why == (
        "the server is not connected: its tools are not listed: no listing in time"
    )
