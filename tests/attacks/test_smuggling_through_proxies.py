"""Request smuggling through the real nginx and HAProxy, with the files of `deploy/`.

Neither lets `/openapi.json` through, which the gateway has. So whoever gets it there from outside
has made the gateway see a request that the proxy did not.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import Final, NamedTuple

import httpx
import pytest
import pytest_asyncio
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from attacks.smuggled import HEADS, framed, proxied
from chaos.fronts import Front, Haproxy, Nginx
from chaos.reader import Reader
from gateway.agent import ScriptedAgent
from gateway.clients import ask, is_whole, new_client
from gateway.running import Gateway
from gateway.tokens import bearer

pytestmark = [
    pytest.mark.sockets,
    pytest.mark.timeout(180),
    pytest.mark.asyncio(loop_scope="module"),
]

HIDDEN: Final = "/openapi.json"
INNER: Final = f"GET {HIDDEN} HTTP/1.1\r\nhost: gateway\r\n\r\n".encode()
PROBED: Final = "/api/sessions/probe/messages"
PROBE: Final = f"GET {PROBED} HTTP/1.1\r\nhost: gateway\r\nx-request-id: the-probe\r\n\r\n".encode()
NAMED: Final = b"x-request-id: the-probe"
TURNS: Final = 20
QUIET_S: Final = 0.5
"""Whoever says nothing for so long waits for more."""

TABLES: Final[Mapping[str, Mapping[str, bytes]]] = {
    "bodies": framed(INNER),
    "heads": {name: head.replace(b"\r\n\r\n", b"\r\n\r\n" + INNER) for name, head in HEADS.items()},
    "hops": proxied(INNER),
}


class Spy:
    """Stands in front of the application, and writes down what comes."""

    def __init__(self, app: ASGIApp) -> None:
        self.seen: list[str] = []
        """The paths of requests, as the gateway understood them."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/readyz":  # which HAProxy asks for
            self.seen.append(scope["path"])
        await self._app(scope, receive, send)


class Behind(NamedTuple):
    front: Front
    gateway: Gateway
    agent: ScriptedAgent
    spy: Spy


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=[Nginx, Haproxy])
async def behind(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Behind]:
    folder = tmp_path_factory.mktemp("front")
    async with ScriptedAgent() as agent:
        gateway = Gateway(agent.url(), max_streams_per_user=0, trusted_proxies="127.0.0.1")
        gateway.server.config.app = spy = Spy(gateway.app)
        async with gateway, request.param(folder, 2 * (gateway.port,)) as front:
            yield Behind(front, gateway, agent, spy)


async def answers(port: int, sent: bytes) -> bytes:
    """All that comes back for it, and then for a probe on the same connection."""
    async with Reader(port) as client:
        client.send(sent)
        await _falls_quiet(client)
        client.send(PROBE)
        await _falls_quiet(client)
        return bytes(client.heard)


async def _falls_quiet(client: Reader) -> None:
    """Wait until the connection is closed, or nothing more comes."""
    length = -1
    while not client.is_closed and length < len(client.heard):
        length = len(client.heard)
        await asyncio.wait([client.reading], timeout=QUIET_S)


def problem(heard: bytes, names: str) -> str | None:
    """What is wrong with these answers, if something is."""
    statuses = re.findall(rb"HTTP/1\.[01] (\d{3}) ", heard)
    if b'"openapi"' in heard:
        return f"{names}: what the proxy hides was shown"
    if heard.count(NAMED) > 1:
        return f"{names}: the probe was answered twice"
    if NAMED in heard and NAMED not in heard.rpartition(b"HTTP/1.1 401")[2]:
        return f"{names}: another answer than the probe's came last ({statuses})"
    return None


@pytest.mark.attack(
    "request smuggling through nginx and HAProxy, as `deploy/` sets them up: the cases above, and "
    "headers for one hop, upgrades, announced and refused bodies, chunk extensions, trailers",
    "the gateway sees only requests that the proxy sees; each answer belongs to its request",
)
@pytest.mark.parametrize("table", TABLES)
async def test_the_gateway_sees_no_request_that_the_proxy_did_not(
    behind: Behind, table: str
) -> None:
    """All cases at once, and in the midst of them somebody whose turn must stay theirs."""
    front, spy = behind.front, behind.spy
    cases = TABLES[table]
    spy.seen.clear()
    url = f"{front.url}/api/sessions/victim/chat"
    async with new_client() as client, asyncio.TaskGroup() as group:
        tried = [group.create_task(answers(front.port, sent)) for sent in cases.values()]
        for number in range(TURNS):
            mine = {**bearer("victim"), "x-request-id": f"victim-{number}"}
            response = await client.post(url, json=ask(), headers=mine)
            assert response.headers["x-request-id"] == f"victim-{number}"
            assert is_whole(response.text)

    found = [problem(each.result(), name) for name, each in zip(cases, tried, strict=True)]
    assert [each for each in found if each] == []
    assert HIDDEN not in spy.seen
    probes = spy.seen.count(PROBED)
    assert probes > 0
    assert sum(NAMED in each.result() for each in tried) <= probes <= len(cases)
    assert len(spy.seen) - probes - TURNS <= len(cases)


async def test_what_the_proxy_hides_is_there(behind: Behind) -> None:
    """Or nothing of the above would mean anything."""
    async with new_client() as client:
        hidden = await client.get(behind.front.url + HIDDEN)
        there = await client.get(behind.gateway.url + HIDDEN)

    assert hidden.status_code == 404
    assert '"openapi"' in there.text


@pytest.mark.attack(
    "a client that sends its own address in a header, through nginx and HAProxy",
    "the log has the address that the proxy saw",
)
async def test_the_proxy_says_where_a_client_comes_from(behind: Behind) -> None:
    elsewhere = httpx.AsyncHTTPTransport(local_address="127.0.0.2", trust_env=False)
    spoofed = {"x-forwarded-for": "198.51.100.1, 127.0.0.1", "forwarded": "for=198.51.100.1"}
    with capture_logs() as logs:
        async with httpx.AsyncClient(transport=elsewhere) as client:
            url = f"{behind.front.url}/api/sessions/s1/chat"
            await client.post(url, json=ask(), headers={**bearer(), **spoofed})

    assert [line["client"] for line in logs] == ["127.0.0.2"]
