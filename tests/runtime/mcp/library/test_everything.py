"""The reference server `@modelcontextprotocol/server-everything`, over its pipes and by HTTP."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.mcp.stage import called, tool_of
from runtime.tools.reference_server import EVERYTHING
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import Endpoint, Program, Server
from turnwire_agent.tools.contract import Effect, Media, Output, ToolFailed
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets
FOLDER: Final = Path(__file__).parents[1]
INDEX: Final = FOLDER / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
OF_CLIENTS_THAT_CAN_MORE: Final = {
    *("get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"),
}
"""Tools that are listed for clients with roots, questions and sampling."""


@pytest.fixture(params=["stdio", "http"])
async def servers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[McpServers]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    node = shutil.which("node")
    if node is None or not INDEX.exists():
        if os.environ.get("CI"):
            pytest.fail("the reference server is not installed")
        pytest.skip("`make runtime` installs the reference server, for Node")
    if request.param == "stdio":
        program = Program(command=node, arguments=[str(INDEX), "stdio"])
        async with McpServers([Server(name="all", place=program, trusted=True)]) as servers:
            yield servers
        return
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(node, str(INDEX), "streamableHttp"),
        env={**os.environ, "PORT": str(port)},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr
    assert b"listening" in await process.stderr.readuntil(b"listening")
    place = Endpoint(url=f"http://127.0.0.1:{port}/mcp")
    async with McpServers([Server(name="all", place=place, trusted=True)]) as servers:
        yield servers
    process.terminate()
    await process.communicate()


def plain(schema: Any) -> Any:
    """A schema without its words."""
    if isinstance(schema, list):
        return [plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    words = {"description", "default"}
    return {name: plain(each) for name, each in schema.items() if name not in words}


async def test_all_of_it_works_as_tools(servers: McpServers) -> None:
    snapshot = await servers.snapshot()
    tools = snapshot.tools

    assert snapshot.problems == ()
    names = {tool.name.removeprefix("all.") for tool in tools}
    assert names == EVERYTHING.keys() - OF_CLIENTS_THAT_CAN_MORE
    for tool in tools:
        assert plain(tool.schema) == plain(EVERYTHING[tool.name.removeprefix("all.")])
    assert tool_of(tools, "all.get-sum").effect is Effect.SAFE
    assert tool_of(tools, "all.simulate-research-query").effect is Effect.ONCE

    assert await called(tools, "all.echo", message="hello") == "Echo: hello"
    assert await called(tools, "all.get-sum", a=1, b=2) == "The sum of 1 and 2 is 3."
    weather = await called(tools, "all.get-structured-content", location="Chicago")
    assert weather.keys() == {"temperature", "conditions", "humidity"}
    image = await called(tools, "all.get-tiny-image")
    assert isinstance(image, Output)
    text, picture = image.parts
    assert "image you requested" in str(text)
    assert isinstance(picture, Media)
    assert (picture.media_type, picture.data[:4]) == ("image/png", b"\x89PNG")
    links = await called(tools, "all.get-resource-links", count=2)
    assert "<demo://resource/dynamic/" in links.splitlines()[-1]
    with pytest.raises(ToolFailed, match="Input validation error"):
        await called(tools, "all.echo")


async def test_a_call_is_stopped_in_its_middle_and_the_next_one_works(servers: McpServers) -> None:
    tools = (await servers.snapshot()).tools
    slow = asyncio.create_task(called(tools, "all.trigger-long-running-operation", duration=60))
    assert await called(tools, "all.echo", message="beside") == "Echo: beside"
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow

    assert await called(tools, "all.echo", message="after") == "Echo: after"


async def test_its_program_gets_no_secret(servers: McpServers) -> None:
    if isinstance(servers._remotes[0].server.place, Endpoint):
        pytest.skip("it is not our program")

    seen = json.loads(await called((await servers.snapshot()).tools, "all.get-env"))

    assert "PATH" in seen
    assert "canary" not in str(seen)
