"""Sessions that are of their first user alone."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import CloseCode

from gateway.waiting import PATIENCE_S
from runtime.host.hosted import QUICK, Hosted, Scripted, echo, hosted, words
from turnwire_agent.host.commands import AbortCommand, command
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Row
from turnwire_agent.session.codec import encode
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.session.events import Prompted

pytestmark = pytest.mark.sockets

PRIVATE = replace(QUICK, private=True)
ANN, BOB = {"x_turnwire_user": "ann"}, {"x_turnwire_user": "bob"}


async def status(host: Hosted, user: str | None, route: str = "ws?role=client") -> int:
    """What a handshake is answered: 101 if the socket opens."""
    headers = {} if user is None else {"x-turnwire-user": user}
    url = f"ws://127.0.0.1:{host.port}/api/sessions/s1/{route}"
    try:
        async with connect(url, additional_headers=headers, proxy=None):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


@pytest.mark.parametrize("again", [False, True])
async def test_to_other_users_a_session_does_not_exist(*, again: bool) -> None:
    class Shared(MemoryJournal):
        async def aclose(self) -> None:
            return

    journal = Shared()
    async with hosted(Scripted(echo), journal, PRIVATE) as host:
        assert [await status(host, user) for user in ("bob", None)] == [101, 101]
        async with host.socket(**ANN) as socket:
            assert words(await socket.turn("hello")) == "hello "
        if not again:
            await asked_by_all(host)
    if again:
        async with hosted(Scripted(echo), journal, PRIVATE) as host:
            await asked_by_all(host)


async def asked_by_all(host: Hosted) -> None:
    assert [await status(host, user) for user in ("ann", "bob", None)] == [101, 404, 404]
    assert [await status(host, user, "access") for user in ("ann", "bob")] == [200, 404]


async def test_whoever_came_before_the_owner_is_sent_nothing_of_theirs() -> None:
    async with (
        hosted(Scripted(echo), settings=PRIVATE) as host,
        host.socket(**BOB) as other,
        host.socket(**ANN) as socket,
        host.socket(**ANN) as same,
    ):
        await socket.turn("hello")
        assert words(await same.rest()) == "hello "
        with pytest.raises(ConnectionClosed):
            await other.rest()
        assert {each["type"] for each in other.seen} == {"init"}


async def test_what_others_asked_before_is_not_done() -> None:
    """As if it came to another replica, at the same moment."""
    journal = MemoryJournal()
    await journal.start()
    for number, user in enumerate(["ann", "bob"]):
        prompted = Prompted(entry_id=f"e{user}", prompt_id=f"p{number}", user_id=user, content="hi")
        await journal.put("s1", command(user, prompted))
    await journal.put("s1", command("stop", AbortCommand(prompt_id="p0", user_id="bob")))

    async def slow(turn: Turn) -> Ended:
        await asyncio.sleep(0.2)
        turn.add(TextAdded("Done."))
        return Ended()

    async with hosted(Scripted(slow), journal, PRIVATE) as host, host.socket(**ANN) as socket:
        async with asyncio.timeout(PATIENCE_S):
            frames = await socket.rest("p0")
        assert frames[-2]["reason"] == "end_turn"
        async with host.socket(**ANN) as later:
            assert [e["userId"] for e in later.seen[0]["session"]["messages"][::2]] == ["ann"]
        assert not await journal.commands("s1")


async def test_a_session_is_shared_unless_it_is_to_be_private() -> None:
    async with hosted(Scripted(echo)) as host, host.socket(**ANN) as socket:
        await socket.turn("hello")
        assert [await status(host, user) for user in ("ann", "bob", None)] == [101, 101, 101]


async def test_whose_a_session_is_that_cannot_be_read_nobody_is_told() -> None:
    journal = MemoryJournal()
    async with hosted(Scripted(echo), journal, PRIVATE) as host:
        newer = await journal.claim("s1", "newer", 5)
        assert newer is not None
        await journal.append(newer, [Row("prompted.9", b"{}")])
        assert await status(host, "ann") == 503


async def test_a_session_that_becomes_somebodys_meanwhile_is_not_shown() -> None:
    class Slow(MemoryJournal):
        """Its reads take a while, and Ann's prompt comes during the last one of Bob's."""

        reads = 0

        async def read(self, *args: Any, **kwargs: Any) -> Sequence[Row]:
            rows = await super().read(*args, **kwargs)
            self.reads += 1
            if self.reads == 2:
                prompted = Prompted(entry_id="e1", prompt_id="p1", user_id="ann", content="hi")
                lease = await self.claim("s1", "ann's", 5)
                assert lease is not None
                encoded = encode(prompted)
                await self.append(lease, [Row(encoded.kind, encoded.body)])
                rows = await super().read(*args, **kwargs)
            return rows

    async with hosted(Scripted(echo), Slow(), PRIVATE) as host:
        with pytest.raises(ConnectionClosed) as closed:
            async with host.socket(**BOB):
                pass
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == CloseCode.POLICY_VIOLATION


async def test_nobody_hears_of_others_in_a_session_that_will_be_one_users() -> None:
    async with (
        hosted(Scripted(echo), settings=PRIVATE) as host,
        host.socket(**BOB) as other,
        host.socket(**ANN) as first,
        host.socket(**ANN),
    ):
        assert (await first.until("user.joined"))["userId"] == "ann"
        await other.send("ping")
        await other.until("pong")
        assert {each["type"] for each in other.seen} == {"init", "pong"}
