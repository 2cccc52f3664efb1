"""A bug in a dialect, over both transports: its stream ends at once, and no other one."""

import asyncio

import pytest
from httpx import Response
from structlog.testing import capture_logs

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import errors, is_whole, post
from gateway.http_agent import Asked, HttpAgent, gateway_of
from gateway.running import Gateway
from gateway.waiting import PATIENCE_S, until
from support.http_dialect import BEGUN, CHUNKED, END, WHOLE, chunk, event
from support.posting_dialect import Text
from support.raising_dialect import RaisingOverHttp, RaisingOverWebSocket
from turnwire.core.bounds import LONG_BYTES
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.sockets

BUGS = pytest.mark.parametrize("bug", ["raise", "raise" + "x" * LONG_BYTES], ids=["short", "long"])


@pytest.fixture(autouse=True)
def dialects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, RaisingOverHttp.name, RaisingOverHttp())
    monkeypatch.setitem(DIALECTS, RaisingOverWebSocket.name, RaisingOverWebSocket())


async def ends_at_once(gateway: Gateway) -> Response:
    """The response of a stream with a bug. It has an end that clients know."""
    with capture_logs() as log:
        response = await asyncio.wait_for(post(gateway, text="a secret"), PATIENCE_S)
        await gateway.has_ended("crashed")
        await until(lambda: any(line["event"] == "crashed" for line in log))

    assert errors(response.text) == ["Internal error"]
    assert is_whole(response.text)
    (crash,) = (line for line in log if line["event"] == "crashed")
    assert type(crash["exc_info"]).__name__ == "BugError"
    assert "a secret" not in str(log)
    return response


@BUGS
@pytest.mark.parametrize("with_head", [False, True], ids=["later", "in the first read"])
@pytest.mark.fault(
    "the gateway has a bug, and code of a dialect raises in mid-turn",
    "“Internal error”; other streams go on",
)
async def test_a_bug_ends_its_stream_over_http_and_no_other(
    bug: str,
    with_head: bool,  # noqa: FBT001 (pytest gives it so)
) -> None:
    async def script(asked: Asked) -> None:
        if len(agent.requests) == 1:
            await agent_may_end.wait()
            await asked.say(CHUNKED, chunk(WHOLE), END)
        else:
            begin = CHUNKED + chunk(BEGUN) + chunk(event(Text("Hello")))
            if not with_head:
                await asked.say(begin)
                await asyncio.sleep(0.1)  # so that it is a read of its own
                begin = b""
            await asked.say(begin + chunk(event(Text(bug))))
            await asked.is_left()

    agent_may_end = asyncio.Event()
    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        other = asyncio.ensure_future(post(gateway, session="s2"))
        await until(lambda: agent.requests)
        await ends_at_once(gateway)
        agent_may_end.set()

        assert is_whole((await other).text)
        await gateway.has_ended("completed")
        await agent.all_left()


@BUGS
async def test_a_bug_ends_its_stream_over_a_websocket_and_no_other(bug: str) -> None:
    async def script(line: Line) -> None:
        await line.begin()
        await line.say(frames.delta("Hello"))
        if line is agent.lines[0]:
            await agent_may_end.wait()
            await line.say(frames.finalize())
        else:
            await line.say(frames.delta(bug))
            await until(lambda: line.closed)

    agent_may_end = asyncio.Event()
    async with ScriptedAgent(script) as agent, Gateway(agent.url()) as gateway:
        other = asyncio.ensure_future(post(gateway, session="s2"))
        await until(lambda: agent.lines and agent.lines[0].heard)
        await ends_at_once(gateway)
        agent_may_end.set()

        assert is_whole((await other).text)
        await gateway.has_ended("completed")
