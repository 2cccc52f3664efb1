"""A server that is reached by HTTP: its credential, its bounds, its sessions."""

import gzip
import logging

import pytest

from runtime.llm.scripted_server import head, response
from runtime.mcp.library.scripted_http import ScriptedHttp
from runtime.mcp.stage import called, until
from turnwire_agent.llm.credentials.port import Credential, CredentialError, Failure, Granted
from turnwire_agent.mcp.remote import McpResultError
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import Bounds, Endpoint, Server
from turnwire_agent.tools.contract import ToolFailed

pytestmark = pytest.mark.sockets
JSON = {"content-type": "application/json", "connection": "close"}


class Rotating:
    """Its first token is too old; it gets another when it hears that."""

    def __init__(self, failure: Failure | None = None) -> None:
        self.token = "old-canary"
        self.refreshed = 0
        self._failure = failure

    async def headers(self) -> Granted:
        if self._failure:
            raise CredentialError(self._failure)
        return Granted({"authorization": f"Bearer {self.token}"}, self.token)

    async def refused(self, version: str) -> bool:
        if version == "old-canary":
            self.token = "new-canary"
            self.refreshed += 1
        return version != self.token


def endpoint(scripted: ScriptedHttp, credential: Credential | None = None, **bounds: int) -> Server:
    url = f"{scripted.server.url}/mcp"
    place = Endpoint(url=url, credential=credential) if credential else Endpoint(url=url)
    return Server(name="web", place=place, bounds=Bounds(**bounds), connect_s=5)


async def test_it_is_called_by_http() -> None:
    scripted = ScriptedHttp()
    async with scripted.server, McpServers([endpoint(scripted)]) as servers:
        snapshot = await servers.snapshot()

        assert snapshot.problems == ()
        assert await called(snapshot.tools, "web.echo", text="a") == "done"

    (call,) = scripted.asked("tools/call")
    assert call.headers["mcp-session-id"] == "s1"
    assert call.headers["accept-encoding"] == "identity"


async def test_a_refused_token_is_refreshed_once_and_is_in_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    scripted, credential = ScriptedHttp(token="new-canary"), Rotating()
    async with scripted.server, McpServers([endpoint(scripted, credential)]) as servers:
        assert await called((await servers.snapshot()).tools, "web.echo") == "done"

    assert credential.refreshed == 1
    assert "canary" not in caplog.text


async def test_a_token_that_stays_refused_is_a_problem() -> None:
    scripted = ScriptedHttp(token="nobody has this")
    async with (
        scripted.server,
        McpServers([endpoint(scripted, Rotating())], backoff_s=60) as servers,
    ):
        (problem,) = (await servers.snapshot()).problems

    assert "the server is not connected" in problem.why


async def test_a_credential_that_fails_says_why() -> None:
    scripted = ScriptedHttp()
    failure = Rotating(Failure("log-in", "Log in again."))
    async with scripted.server, McpServers([endpoint(scripted, failure)], backoff_s=60) as servers:
        (problem,) = (await servers.snapshot()).problems

    assert problem.why == "the server is not connected: Log in again."
    assert scripted.server.asked == []


async def test_nobody_listens_there() -> None:
    place = Endpoint(url="http://127.0.0.1:9/mcp")
    async with McpServers([Server(name="web", place=place)], backoff_s=60) as servers:
        (problem,) = (await servers.snapshot()).problems

    assert problem.why == "the server is not connected: no connection (ConnectError)"


@pytest.mark.parametrize("streams", [False, True])
async def test_an_answer_that_is_too_long_is_no_result(streams: bool) -> None:  # noqa: FBT001
    scripted = ScriptedHttp(streams=streams)
    async with (
        scripted.server,
        McpServers([endpoint(scripted, message_bytes=10_000)], backoff_s=0.01) as servers,
    ):
        tools = (await servers.snapshot()).tools
        scripted.text = "x" * 9_000
        assert await called(tools, "web.echo") == scripted.text
        scripted.text = "x" * 11_000
        with pytest.raises((McpResultError, ToolFailed)):
            await called(tools, "web.echo")


async def test_an_answer_that_is_packed_is_not_unpacked() -> None:
    """A few bytes may unpack to more than there is memory."""
    packed = gzip.compress(b'{"jsonrpc": "2.0", "id": 3, "result": {"content": []}}')
    answer = head(200, {**JSON, "content-encoding": "gzip"}) + packed
    scripted = ScriptedHttp({"tools/call": answer})
    async with scripted.server, McpServers([endpoint(scripted)], backoff_s=0.01) as servers:
        with pytest.raises(ToolFailed, match="The server 'web' of this tool is gone"):
            await called((await servers.snapshot()).tools, "web.echo")
        await until(lambda: len(scripted.asked("initialize")) == 2)


async def test_a_server_that_was_started_anew_gets_a_new_session() -> None:
    scripted = ScriptedHttp({"tools/call": response(404)})
    async with scripted.server, McpServers([endpoint(scripted)], backoff_s=0.01) as servers:
        with pytest.raises(ToolFailed, match="is gone"):
            await called((await servers.snapshot()).tools, "web.echo")
        scripted.instead.clear()
        await until(lambda: len(scripted.asked("tools/list")) == 2)
        while (snapshot := await servers.snapshot()).problems:
            pass

        assert await called(snapshot.tools, "web.echo") == "done"


async def test_a_redirect_to_another_place_is_not_followed() -> None:
    elsewhere = ScriptedHttp()
    async with elsewhere.server:
        scripted = ScriptedHttp(
            {"tools/call": response(307, location=f"{elsewhere.server.url}/mcp")}
        )
        async with scripted.server, McpServers([endpoint(scripted)]) as servers:
            with pytest.raises(McpResultError):
                await called((await servers.snapshot()).tools, "web.echo")

    assert elsewhere.server.asked == []
