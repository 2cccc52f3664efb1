"""Which requests can be sent by HTTP."""

import asyncio
from collections.abc import Sequence

import pytest

from gateway.http_agent import Asked, HttpAgent, answers
from gateway.waiting import until
from support.dialled import Counting
from support.http_dialect import chunked
from turnwire.core.connect import BadConnectRequestError, ConnectRequest
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.http.transport import HttpTransport
from turnwire.relay.agent.link import AgentLink
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.memory_budget import Budget


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (ConnectRequest(offered_protocols=("a",)), "offers no sub-protocols"),
        (ConnectRequest(accept=()), "says which media types it accepts"),
        (ConnectRequest(method="HEAD"), "answers a 'HEAD'"),
        (ConnectRequest(method="CONNECT"), "answers a 'CONNECT'"),
        (ConnectRequest(method="GET /x HTTP/1.1\r\n"), "no stream of events"),
        (ConnectRequest(method=""), "no stream of events"),
    ],
)
async def test_a_request_that_cannot_be_sent(request_: ConnectRequest, problem: str) -> None:
    with pytest.raises(BadConnectRequestError, match=problem):
        HttpTransport.check(request_)

    target = AgentTarget(
        "http://127.0.0.1:1/",
        {},
        request_.method,
        offered_protocols=request_.offered_protocols,
        accept=request_.accept,
    )
    transport = HttpTransport(Dialler(user_timeout_s=1), frame_bytes=1)
    with pytest.raises(BadConnectRequestError, match=problem):
        await transport.open(target, Counting(), Budget().holder("u1").reserve())


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_a_request_that_can(method: str) -> None:
    HttpTransport.check(ConnectRequest(method=method, body=b"x"))


class Ends(Counting):
    """A listener that keeps the bugs and the frames, too."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[bytes] = []

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        self.frames += frames

    def dial_crashed(self, bug: Exception) -> None:
        raise AssertionError from bug


@pytest.mark.sockets
async def test_a_head_that_comes_late_opens_nothing_a_second_time() -> None:
    ends, link = Ends(), AgentLink()
    goes_on = asyncio.Event()

    async def script(asked: Asked) -> None:
        await goes_on.wait()
        await asked.say(chunked(b"data: a\n\n"))

    async with HttpAgent(script) as agent:
        transport = HttpTransport(Dialler(user_timeout_s=5), frame_bytes=1_000)
        target = AgentTarget(f"http://127.0.0.1:{agent.port}/", {})
        link.dial(transport, target, ends, Budget().holder("u1").reserve(), 0.05)
        await until(lambda: ends.opened)
        goes_on.set()
        await until(lambda: ends.left)
        transport.close()
        link.close()

    assert (ends.frames, ends.opened, ends.refused) == ([b"a"], 1, [])


async def test_a_dialect_of_this_transport_sends_nothing_after_its_request() -> None:
    transport = HttpTransport(Dialler(user_timeout_s=5), frame_bytes=1_000)

    async with HttpAgent(answers(chunked(b""))) as agent:
        target = AgentTarget(f"http://127.0.0.1:{agent.port}/", {})
        exchange = await transport.open(target, Counting(), Budget().holder("u1").reserve())
        with pytest.raises(NotImplementedError):
            exchange.send([b"x"])
        exchange.close()


@pytest.mark.sockets
async def test_a_kept_connection_is_not_used_for_a_request_that_is_none() -> None:
    """It would wait for a response that never comes."""
    transport = HttpTransport(Dialler(user_timeout_s=5), frame_bytes=1_000)
    ends, reservation = Ends(), Budget().holder("u1").reserve()

    async with HttpAgent(answers(chunked(b"data: a\n\n"))) as agent:
        url = f"http://127.0.0.1:{agent.port}/"
        assert transport.open_kept(AgentTarget(url, {}), ends, reservation) is None
        await transport.open(AgentTarget(url, {}), ends, reservation)
        await until(lambda: transport.stats.kept == 1)
        with pytest.raises(BadConnectRequestError):
            transport.open_kept(AgentTarget(url, {}, "HEAD"), ends, reservation)
        assert transport.stats.kept == 0
        assert (transport.stats.on_new, transport.stats.on_kept) == (1, 0)
