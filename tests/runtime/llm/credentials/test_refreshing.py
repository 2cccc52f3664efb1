"""One process and a token server. `test_processes.py` has several."""

import asyncio
from typing import Any

import httpx
import pytest

from runtime.llm.credentials.token_server import (
    NAME,
    Canned,
    CountedStore,
    SetClock,
    TokenServer,
    bearer,
    both,
    failure,
    logged_in,
    refresh_grant,
    until,
)
from turnwire_agent.llm.credentials.grant import Grant
from turnwire_agent.llm.credentials.port import Failure
from turnwire_agent.llm.credentials.refreshing import Refreshing, RefreshTimes
from turnwire_agent.llm.credentials.sources import KeyValue
from turnwire_agent.llm.credentials.stored_token import Step, StoredToken
from turnwire_agent.llm.credentials.token_store import TokenStore

pytestmark = pytest.mark.sockets


async def test_a_token_that_is_over_is_refreshed_once_for_all_tasks(
    credential: Refreshing, server: TokenServer
) -> None:
    granted = await asyncio.gather(*(credential.headers() for _ in range(100)))

    assert {one.headers["authorization"] for one in granted} == {"Bearer access-1"}
    assert len({one.version for one in granted}) == 1
    assert [asked.form for asked in server.asked] == [
        {"grant_type": "refresh_token", "refresh_token": "refresh-0", "client_id": "client"}
    ]


async def test_a_token_that_is_good_is_used_without_a_look_at_the_file(
    credential: Refreshing, store: CountedStore, server: TokenServer, clock: SetClock
) -> None:
    await credential.headers()
    looks = store.looks
    clock.forward(3530)
    assert await bearer(credential) == "access-1"
    assert store.looks == looks

    clock.forward(20)
    assert await bearer(credential) == "access-2"
    assert [asked.form["refresh_token"] for asked in server.asked] == ["refresh-0", "refresh-1"]


async def test_headers_that_were_granted_stay_what_they_are(
    credential: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    """A stream goes on with the headers of its beginning."""
    granted = await credential.headers()
    clock.forward(7200)
    await credential.headers()

    assert granted.headers["authorization"] == "Bearer access-1"
    assert len(server.asked) == 2


async def test_it_is_stored_before_it_is_used(
    credential: Refreshing, store: CountedStore, server: TokenServer, clock: SetClock
) -> None:
    store.full = True
    for _ in range(3):
        assert await failure(credential.headers()) == Failure("unavailable", "full")
    assert len(server.asked) == 1
    store.full = False

    assert await bearer(credential) == "access-1"
    assert len(server.asked) == 1
    clock.forward(3600)
    assert await bearer(credential) == "access-2"


async def test_what_could_not_be_stored_is_stored_at_the_end(
    credential: Refreshing, other: Refreshing, store: CountedStore, server: TokenServer
) -> None:
    store.full = True
    await failure(credential.headers())
    store.full = False
    await credential.close()

    assert await bearer(other) == "access-1"
    assert len(server.asked) == 1


async def test_closing_waits_for_the_answer(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    server.answering.clear()
    asking = asyncio.create_task(credential.headers())
    await until(lambda: bool(server.asked))
    asking.cancel()
    closing = asyncio.create_task(credential.close())
    await asyncio.sleep(0.01)
    assert not closing.done()
    server.answering.set()
    await closing

    assert await bearer(other) == "access-1"
    assert len(server.asked) == 1


async def test_another_process_waits_for_the_one_that_asks(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    server.answering.clear()
    first = asyncio.create_task(bearer(credential))
    await until(lambda: bool(server.asked))
    second = asyncio.create_task(bearer(other))
    store = other._store
    assert isinstance(store, CountedStore)
    await until(lambda: store.looks > 3)
    assert not second.done()
    server.answering.set()

    assert await first == await second == "access-1"
    assert len(server.asked) == 1


async def test_the_lock_decides_and_not_what_was_seen_before_it(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    """One that saw the token of before, and comes to the lock late, does not refresh it again."""
    stored = other._store
    grant = refresh_grant(server.url)

    class Late(TokenStore):
        async def read(self, key: str) -> StoredToken | None:
            row = await super().read(key)
            if not server.asked:
                await bearer(credential)
            return row

    late = Refreshing(NAME, grant, Late(stored._path), client=credential._client)

    assert await bearer(late) == "access-1"
    assert len(server.asked) == 1


async def test_a_waiter_gives_up_after_a_while(
    other: Refreshing, store: CountedStore, server: TokenServer, clock: SetClock
) -> None:
    grant = refresh_grant(server.url)
    key = grant.key(NAME)
    await store.claim(key, lambda _: Step.REFRESH, "of a dead one", 1000)
    asking = asyncio.create_task(failure(other.headers()))
    looking = other._store
    assert isinstance(looking, CountedStore)
    await until(lambda: looking.looks > 1)
    clock.monotonic_s += 50

    assert await asking == Failure(
        "unavailable", "The token of 'work' was not refreshed: another process is at it.", 1.0
    )
    assert server.asked == []


async def test_a_process_that_was_held_up_with_the_lease_looks_again(
    server: TokenServer, store: CountedStore, clock: SetClock, client: httpx.AsyncClient
) -> None:
    await logged_in(store._path, server.url)

    class HeldUp(TokenStore):
        held_up = 0

        async def claim(self, *args: Any) -> StoredToken | None:
            row = await super().claim(*args)
            if not self.held_up:
                clock.monotonic_s += 6
            self.held_up += 1
            return row

    held_up = HeldUp(store._path)
    grant = refresh_grant(server.url)
    credential = Refreshing(NAME, grant, held_up, clock=clock.clock, client=client)

    assert await bearer(credential) == "access-1"
    assert held_up.held_up == 2
    assert len(server.asked) == 1


async def test_a_401_refreshes_once_for_all_that_had_the_same_token(
    credential: Refreshing, server: TokenServer
) -> None:
    version = (await credential.headers()).version

    again = await asyncio.gather(*(credential.refused(version) for _ in range(100)))

    assert again == [True] * 100
    assert await bearer(credential) == "access-2"
    assert len(server.asked) == 2
    assert await credential.refused(version)
    assert len(server.asked) == 2


async def test_a_401_takes_the_token_that_another_process_brought(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    version = (await credential.headers()).version
    assert (await other.headers()).version == version
    assert await other.refused(version)

    assert await credential.refused(version)
    assert await bearer(credential) == "access-2"
    assert len(server.asked) == 2


async def test_a_401_on_a_token_that_a_401_brought_is_no_loop(
    credential: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    first = await credential.headers()
    assert await credential.refused(first.version)
    second = await credential.headers()
    for _ in range(5):
        assert not await credential.refused(second.version)
    assert len(server.asked) == 2

    clock.forward(11)
    assert await credential.refused(second.version)
    assert len(server.asked) == 3


async def test_a_401_of_another_object_asks_for_headers(
    credential: Refreshing, server: TokenServer
) -> None:
    assert await credential.refused("of before the restart")
    assert server.asked == []


async def test_a_401_while_the_same_token_is_read_waits_for_another(
    server: TokenServer, store: CountedStore, client: httpx.AsyncClient
) -> None:
    """A run that is on its way may bring the very token that was refused."""
    await logged_in(store._path, server.url)
    reading = asyncio.Event()

    class Slow(TokenStore):
        slow = False

        async def read(self, key: str) -> StoredToken | None:
            row = await super().read(key)
            if self.slow:
                reading.set()
                await until(lambda: not self.slow)
            return row

    slow = Slow(store._path)
    credential = Refreshing(NAME, refresh_grant(server.url), slow, client=client)
    granted = await credential.headers()
    held = credential._held
    credential._held = None
    slow.slow = True
    asking = asyncio.create_task(credential.headers())
    await reading.wait()
    credential._held = held
    decided_late = asyncio.create_task(credential.refused(granted.version))
    await asyncio.sleep(0)
    credential._unwanted = ""
    slow.slow = False
    assert (await asking).version == granted.version
    credential._unwanted = granted.version

    assert await decided_late
    assert await bearer(credential) == "access-2"


async def test_a_refresh_token_that_does_not_rotate_is_kept(
    credential: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    server.canned = [Canned(200, '{"access_token": "a", "expires_in": 100}')]
    assert await bearer(credential) == "a"
    clock.forward(100)

    assert await bearer(credential) == "access-2"
    assert [asked.form["refresh_token"] for asked in server.asked] == ["refresh-0"] * 2


async def test_client_credentials_need_no_log_in_and_are_shared(
    server: TokenServer, store: CountedStore, clock: SetClock
) -> None:
    """With a client of its own for each refresh, as it is without one."""
    grant = Grant(
        kind="client_credentials",
        token_url=server.url,
        client_id="me",
        client_secret=KeyValue("secret"),
        scope="models",
    )
    first = Refreshing(NAME, grant, store, clock=clock.clock)
    second = Refreshing(NAME, grant, TokenStore(store._path), clock=clock.clock)

    assert await both(first, second) == ["access-1"] * 2
    clock.forward(3600)
    assert await bearer(first) == "access-2"
    assert server.asked[1].form == {"grant_type": "client_credentials", "scope": "models"}
    assert server.asked[1].headers["authorization"].startswith("Basic ")
    clock.forward(3600)
    server.canned = [Canned(400, '{"error": "invalid_grant"}')]
    assert await failure(second.headers()) == Failure(
        "refused",
        f"The token of 'work' was not refreshed: {grant.server} answers invalid_grant.",
        60,
    )


def test_a_lease_lasts_for_the_sending_and_the_answer() -> None:
    times = RefreshTimes()

    assert times.lease_s == times.send_s + times.answer_s
    assert times.wait_s >= 2 * times.lease_s
