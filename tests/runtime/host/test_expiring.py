"""What a socket may do once the token has expired that it was opened with."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosedError
from websockets.frames import CloseCode

from gateway.waiting import PATIENCE_S
from runtime.host.hosted import QUICK, Hosted, Scripted, words
from turnwire_agent.access.access import Access, Caller
from turnwire_agent.access.listening import listener
from turnwire_agent.host import expiring
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.host.replica import Replica
from turnwire_agent.host.server import HostServer
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.v2.frames import Frames

pytestmark = pytest.mark.sockets


class Lasting:
    """Tokens that say for how many seconds they are good."""

    async def caller(self, token: str) -> Caller:
        return Caller("ann", None if token == "ever" else time.time() + float(token))


async def slow(turn: Turn) -> Ended:
    turn.add(TextAdded("So "))
    await asyncio.sleep(0.6 if turn.prompt.content == "slow" else 60)
    turn.add(TextAdded("long."))
    return Ended()


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiring, "LOOK_S", 0.05)


@asynccontextmanager
async def served() -> AsyncIterator[Hosted]:
    listening, _ = listener("127.0.0.1:0", has_token=True)
    replica = Replica(MemoryJournal(), Scripted(slow), Frames(), QUICK)
    access = Access(loopback=True, tokens=Lasting())
    async with HostServer(replica, listening, access, QUICK), asyncio.timeout(PATIENCE_S):
        yield Hosted(listening.getsockname()[1], replica)


def code(closed: pytest.ExceptionInfo[ConnectionClosedError]) -> int | None:
    return closed.value.rcvd.code if closed.value.rcvd else None


async def test_an_idle_socket_is_closed() -> None:
    async with (
        served() as host,
        host.socket(authorization="Bearer 0.2") as socket,
        host.socket(authorization="Bearer 60") as good,
        host.socket(authorization="Bearer ever") as ever,
    ):
        began = time.monotonic()
        with pytest.raises(ConnectionClosedError) as closed:
            await socket.until("never")
        assert code(closed) == CloseCode.POLICY_VIOLATION
        assert time.monotonic() - began > 0.1
        for each in (good, ever):
            await each.send("ping")
            await each.until("pong")


async def test_a_turn_that_runs_is_sent_to_its_end() -> None:
    async with served() as host, host.socket(authorization="Bearer 0.2") as socket:
        assert words(await socket.turn("slow")) == "So long."
        with pytest.raises(ConnectionClosedError) as closed:
            await socket.next()
        assert code(closed) == CloseCode.POLICY_VIOLATION


async def test_a_turn_may_still_be_stopped() -> None:
    async with served() as host, host.socket(authorization="Bearer 0.2") as socket:
        await socket.ask("for ever")
        await socket.until("message.part.text-delta")
        await asyncio.sleep(0.3)
        await socket.send("abort", promptId="p1")
        assert (await socket.until("message.finalize"))["reason"] == "canceled"


@pytest.mark.parametrize(
    "frame",
    [
        {"kind": "prompt", "content": "more", "promptId": "p2"},
        {"kind": "prompt", "content": 7, "promptId": "p2"},
        {"kind": "answer", "questionId": "q1", "answer": True},
    ],
)
async def test_nothing_new_is_taken(frame: dict[str, object]) -> None:
    async with served() as host, host.socket(authorization="Bearer 0.2") as socket:
        await socket.ask("for ever")
        await socket.until("message.part.text-delta")
        await asyncio.sleep(0.3)
        await socket.send(**frame)  # type: ignore[arg-type]
        if frame["kind"] == "prompt":
            error = await socket.next()
            assert error == {"type": "error", "error": "The token has expired", "promptId": "p2"}
        with pytest.raises(ConnectionClosedError) as closed:
            await socket.next()
        assert code(closed) == CloseCode.POLICY_VIOLATION


async def test_a_turn_that_began_later_keeps_no_socket_open() -> None:
    async with (
        served() as host,
        host.socket(authorization="Bearer 0.2") as socket,
        host.socket(authorization="Bearer ever") as other,
    ):
        await socket.turn("slow")
        await other.ask("for ever", "p2")
        with pytest.raises(ConnectionClosedError) as closed:
            await socket.until("never")
        assert code(closed) == CloseCode.POLICY_VIOLATION


async def test_a_socket_that_does_not_read_keeps_no_other_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expiring, "CLOSE_S", 0.1)
    closings = count()
    close = ServerConnection.close

    async def first_waits_for_ever(self: ServerConnection, *args: object) -> None:
        if next(closings) == 0:
            await asyncio.Event().wait()
        await close(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(ServerConnection, "close", first_waits_for_ever)
    async with (
        served() as host,
        host.socket(authorization="Bearer 0.1") as one,
        host.socket(authorization="Bearer 0.1") as two,
        host.socket(authorization="Bearer 0.6") as three,
    ):
        for each in (one, two, three):
            with pytest.raises(ConnectionClosedError):
                await each.until("never")
