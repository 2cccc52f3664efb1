"""Which requests can be sent by HTTP."""

import pytest

from support.dialled import Counting
from turnwire.core.connect import BadConnectRequestError, ConnectRequest
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.http.transport import HttpTransport
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
