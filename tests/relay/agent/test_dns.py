"""Look-ups: shared, cached and forgotten. The resolver is scripted, the sockets are not."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.agent import ScriptedAgent
from gateway.hanging import hanging
from gateway.waiting import until
from support.dialled import Counting, dialled
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.dns import AGAIN_S, LOOKUP_S, Addresses
from turnwire.relay.agent.failures import DialError
from turnwire.relay.agent.port import Connection

pytestmark = pytest.mark.sockets

Address = tuple[str, int]


class Names:
    """A resolver that answers as it is told, the clock that its answers grow old by, a dialler."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        time = loop.time
        self.answer: list[Address] = []
        self.asked = 0
        self._passed_s = 0.0
        self._dialler = Dialler(user_timeout_s=1)
        monkeypatch.setattr(loop, "getaddrinfo", self._answered)  # the loop's, no code of ours
        monkeypatch.setattr(loop, "time", lambda: time() + self._passed_s)

    def passes(self, seconds: float) -> None:
        self._passed_s += seconds

    async def lead_to(self, agent: ScriptedAgent) -> None:
        before = agent.connections
        listener = Counting()
        upstream = await self._dial(listener)
        await until(lambda: listener.opened)
        upstream.close()
        assert agent.connections == before + 1

    async def lead_nowhere(self, within_s: float = 5) -> None:
        with pytest.raises((DialError, TimeoutError)):
            async with asyncio.timeout(within_s):
                await self._dial(Counting())

    async def _dial(self, listener: Counting) -> Connection:
        return await dialled(self._dialler, "ws://agents.example:80/", listener)

    async def _answered(self, *_: object, **__: object) -> list[Any]:
        self.asked += 1
        kind = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
        return [(*kind, address) for address in self.answer]


@pytest.fixture
def hung() -> Iterator[Address]:
    with hanging() as address:
        yield address


@pytest.fixture
def closed() -> Address:
    """Where nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        address: Address = sock.getsockname()
        return address


def at(agent: ScriptedAgent) -> Address:
    return "127.0.0.1", agent.port


@pytest.mark.fault("the agent's name changes its address", "looked up again after 30 s")
async def test_a_name_that_moves_is_followed_when_its_look_up_is_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with ScriptedAgent() as first, ScriptedAgent() as second:
        names = Names(monkeypatch)
        names.answer = [at(first)]
        await names.lead_to(first)
        names.answer = [at(second)]
        names.passes(LOOKUP_S - 1)
        await names.lead_to(first)
        assert names.asked == 1

        names.passes(1)

        await names.lead_to(second)
        assert names.asked == 2


@pytest.mark.fault(
    "the agent's name changes its address, and no agent is left at the old one",
    "“Connection failed” once; a dial one second later goes to the new address",
)
@pytest.mark.parametrize("gone", ["closed", "hung"])
async def test_a_name_that_leads_nowhere_is_looked_up_again_soon(
    gone: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedAgent() as agent:
        names = Names(monkeypatch)
        names.answer = [request.getfixturevalue(gone)]
        await names.lead_nowhere(0.1)
        names.answer = [at(agent)]
        await names.lead_nowhere(0.1)  # a dead agent is not to keep the resolver busy
        assert names.asked == 1

        names.passes(AGAIN_S)
        await names.lead_nowhere(0.1)

        await names.lead_to(agent)
        assert names.asked == 2


@pytest.mark.fault("one of the agent's addresses drops all packets", "the next one is dialled")
async def test_an_address_that_hangs_holds_nobody_up(
    hung: Address, closed: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedAgent() as agent:
        names = Names(monkeypatch)
        names.answer = [closed, hung, at(agent)]

        await names.lead_to(agent)


async def test_a_name_that_loses_its_addresses_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with ScriptedAgent() as agent:
        names = Names(monkeypatch)
        names.answer = [at(agent)]
        await names.lead_to(agent)

        async def none(*_: object, **__: object) -> list[Any]:
            raise socket.gaierror

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", none)
        await names.lead_to(agent)
        names.passes(LOOKUP_S)
        await names.lead_nowhere()


async def test_a_look_up_is_cached_and_the_cache_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    looked_up: list[str] = []
    look_up = loop.getaddrinfo

    async def counted(host: str, port: int, **more: Any) -> object:
        looked_up.append(host)
        return await look_up("127.0.0.1", port, **more)

    monkeypatch.setattr(loop, "getaddrinfo", counted)  # the loop's, no code of ours
    dialler = Dialler(user_timeout_s=1)
    async with ScriptedAgent() as agent:
        for name in ["a.example"] * 3 + [f"{number}.example" for number in range(70)]:
            upstream = await dialled(dialler, f"ws://{name}:{agent.port}/")
            upstream.close()

    assert looked_up.count("a.example") == 1
    assert len(dialler._addresses) <= 64


async def test_dials_of_one_name_at_once_share_its_look_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    looked_up: list[str] = []

    async def slow(host: str, port: int, **_: Any) -> object:
        looked_up.append(host)
        await asyncio.sleep(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(loop, "getaddrinfo", slow)  # the loop's, no code of ours
    addresses = Addresses()
    first = asyncio.create_task(addresses.of("a.example", 1))
    others = [asyncio.create_task(addresses.of("a.example", 1)) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()

    assert {len(await other) for other in others} == {1}
    assert looked_up == ["a.example"]


async def test_a_look_up_that_failed_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()

    async def fails(*_: Any, **__: Any) -> object:
        raise socket.gaierror

    monkeypatch.setattr(loop, "getaddrinfo", fails)  # the loop's, no code of ours
    addresses = Addresses()
    with pytest.raises(OSError):  # noqa: PT011 (a gaierror has no text of its own)
        await addresses.of("a.example", 1)

    assert len(addresses) == 0


async def test_a_look_up_that_failed_when_nobody_waited_any_more_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    fail = asyncio.Event()

    async def fails(*_: Any, **__: Any) -> object:
        await fail.wait()
        raise socket.gaierror

    monkeypatch.setattr(loop, "getaddrinfo", fails)  # the loop's, no code of ours
    addresses = Addresses()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await addresses.of("a.example", 1)
    assert len(addresses) == 1

    fail.set()

    await until(lambda: len(addresses) == 0)
