"""One process and a token server. `test_processes.py` has several."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from pathlib import Path
from typing import Any

import httpx
import pytest

from runtime.llm.credentials.token_server import (
    NAME,
    Canned,
    CountedStore,
    SetClock,
    TokenServer,
    logged_in,
    open_client,
    refresh_grant,
    serving,
    until,
)
from turnwire_agent.llm.credentials.grant import Grant
from turnwire_agent.llm.credentials.port import Credential, CredentialError, Failure
from turnwire_agent.llm.credentials.refreshing import Refreshing, RefreshTimes
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.sources import KeyValue
from turnwire_agent.llm.credentials.stored_token import Step, StoredToken, Tokens
from turnwire_agent.llm.credentials.token_store import TokenStore

pytestmark = pytest.mark.sockets


class FailingStore(CountedStore):
    """Cannot save while it is full."""

    full = False

    async def save(self, key: str, instead_of: str | None, tokens: Tokens) -> StoredToken:
        if self.full:
            raise CredentialError(Failure("unavailable", "full"))
        return await super().save(key, instead_of, tokens)


@pytest.fixture
async def server() -> AsyncGenerator[TokenServer]:
    async with serving(TokenServer()) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> FailingStore:
    return FailingStore(tmp_path / "tokens")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    async with open_client() as client:
        yield client


@pytest.fixture
async def credential(
    server: TokenServer, store: FailingStore, clock: SetClock, client: httpx.AsyncClient
) -> Refreshing:
    await logged_in(store._path, server.url)
    return Refreshing(NAME, refresh_grant(server.url), store, clock=clock.clock, client=client)


@pytest.fixture
def other(
    credential: Refreshing,
    server: TokenServer,
    clock: SetClock,
    client: httpx.AsyncClient,
) -> Refreshing:
    """As that of another process: it shares the file alone."""
    store = credential._store
    grant = refresh_grant(server.url)
    return Refreshing(NAME, grant, CountedStore(store._path), clock=clock.clock, client=client)


async def bearer(credential: Credential) -> str:
    return (await credential.headers()).headers["authorization"].removeprefix("Bearer ")


async def both(first: Credential, second: Credential) -> list[str]:
    return [*await asyncio.gather(bearer(first), bearer(second))]


async def failure(asked: Awaitable[Any]) -> Failure:
    with pytest.raises(CredentialError) as raised:
        await asked
    return raised.value.failure


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
    credential: Refreshing, store: FailingStore, server: TokenServer, clock: SetClock
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
    credential: Refreshing, store: FailingStore, server: TokenServer, clock: SetClock
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
    credential: Refreshing, other: Refreshing, store: FailingStore, server: TokenServer
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
    other: Refreshing, store: FailingStore, server: TokenServer, clock: SetClock
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
    server: TokenServer, store: FailingStore, clock: SetClock, client: httpx.AsyncClient
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
    server: TokenServer, store: FailingStore, client: httpx.AsyncClient
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


async def test_a_refusal_is_one_fault_for_all_and_is_remembered(
    credential: Refreshing, other: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    server.revoked = True
    expected = Failure(
        "log-in",
        f"{credential._grant.server} refuses to refresh the token of 'work': log in again.",
    )

    failures = await asyncio.gather(*(failure(credential.headers()) for _ in range(100)))
    assert failures == [expected] * 100
    clock.forward(100_000)
    for asked in (credential, other, credential):
        assert await failure(asked.headers()) == expected
    assert len(server.asked) == 1


async def test_each_task_has_an_exception_of_its_own(
    credential: Refreshing, server: TokenServer
) -> None:
    server.revoked = True

    raised = await asyncio.gather(
        *(credential.headers() for _ in range(10)), return_exceptions=True
    )

    assert len({id(error) for error in raised}) == 10


async def test_a_log_in_ends_a_refusal_at_once_in_all_processes(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    server.revoked = True
    await failure(credential.headers())
    await failure(other.headers())
    server.revoked = False
    server.current = "refresh-new"
    await other.log_in(access_token=None, refresh_token=Secret("refresh-new"), lifetime_s=None)

    assert await bearer(credential) == await bearer(other) == "access-2"
    assert len(server.asked) == 2


async def test_an_access_token_of_a_log_in_is_used_as_it_is(
    credential: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    await credential.log_in(access_token=Secret("given"), refresh_token=None, lifetime_s=None)
    clock.forward(10**6)
    granted = await credential.headers()
    assert granted.headers["authorization"] == "Bearer given"

    assert await failure(credential.refused(granted.version)) == Failure(
        "log-in", "The token is over, and there is no refresh token, of 'work': log in again."
    )
    assert server.asked == []


async def test_without_a_log_in_nobody_is_asked(
    credential: Refreshing, server: TokenServer
) -> None:
    unknown = Refreshing("unknown", refresh_grant(server.url), credential._store)

    assert await failure(unknown.headers()) == Failure(
        "log-in", "There is no token of 'unknown': log in again."
    )
    assert server.asked == []


async def test_a_refusal_that_comes_after_a_newer_token_is_nothing(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    server.canned = [Canned(400, '{"error": "invalid_grant"}')]
    server.answering.clear()
    asking = asyncio.create_task(bearer(credential))
    await until(lambda: bool(server.asked))
    await other.log_in(access_token=Secret("newer"), refresh_token=None, lifetime_s=None)
    server.answering.set()

    assert await asking == "newer"


async def test_tokens_that_come_after_newer_ones_are_dropped(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    server.answering.clear()
    asking = asyncio.create_task(bearer(credential))
    await until(lambda: bool(server.asked))
    await other.log_in(access_token=Secret("newer"), refresh_token=None, lifetime_s=None)
    server.answering.set()

    assert await asking == "newer"


@pytest.mark.parametrize(
    ("canned", "reason", "why", "pause_s"),
    [
        (Canned(503), "unavailable", "answers 503", 1),
        (Canned(429, headers="retry-after: 20\r\n"), "unavailable", "answers 429", 20),
        (Canned(429, headers="retry-after: 900\r\n"), "unavailable", "answers 429", 60),
        (
            Canned(401, '{"error": "invalid_client"}'),
            "refused",
            "answers 401, invalid_client",
            60,
        ),
    ],
)
async def test_after_a_failure_nobody_is_asked_for_a_moment(
    credential: Refreshing,
    server: TokenServer,
    clock: SetClock,
    canned: Canned,
    reason: str,
    why: str,
    pause_s: float,
) -> None:
    server.canned = [canned]
    message = f"The token of 'work' was not refreshed: {credential._grant.server} {why}."

    failures = await asyncio.gather(*(failure(credential.headers()) for _ in range(20)))
    assert {(one.reason, one.message, one.retry_after_s) for one in failures} == {
        (reason, message, pause_s)
    }
    clock.monotonic_s += pause_s - 0.9
    again = await failure(credential.headers())
    assert (again.reason, again.message) == (reason, message)
    assert 0 < (again.retry_after_s or 0) < 0.9
    assert len(server.asked) == 1

    clock.monotonic_s += 1
    assert await bearer(credential) == "access-2"


async def test_in_a_pause_a_token_of_another_process_is_taken(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    server.canned = [Canned(401, '{"error": "invalid_client"}')]
    await failure(credential.headers())

    assert await bearer(other) == await bearer(credential) == "access-2"


async def test_a_failed_refresh_leaves_no_lease(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    server.canned = [Canned(503)]
    await failure(credential.headers())

    # Without a wait for a lease to die.
    assert await bearer(other) == "access-2"


async def test_a_refresh_token_that_does_not_rotate_is_kept(
    credential: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    server.canned = [Canned(200, '{"access_token": "a", "expires_in": 100}')]
    assert await bearer(credential) == "a"
    clock.forward(100)

    assert await bearer(credential) == "access-2"
    assert [asked.form["refresh_token"] for asked in server.asked] == ["refresh-0"] * 2


async def test_a_short_lived_token_is_used(
    credential: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    server.lifetime_s = 10
    await credential.headers()
    clock.forward(4)
    assert await bearer(credential) == "access-1"
    clock.forward(2)
    assert await bearer(credential) == "access-2"


async def test_a_token_without_an_end_is_used_until_a_401(
    credential: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    server.lifetime_s = None
    granted = await credential.headers()
    clock.forward(10**7)
    assert await bearer(credential) == "access-1"

    assert await credential.refused(granted.version)
    assert await bearer(credential) == "access-2"


async def test_a_clock_that_is_set_back_does_not_lengthen_a_life(
    credential: Refreshing, other: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    await credential.headers()
    clock.wall_s -= 86_400

    # The one that knows the token counts on; the one that reads it gives it one life at most.
    assert await bearer(credential) == await bearer(other) == "access-1"
    clock.forward(3600)
    assert await bearer(credential) == "access-2"
    clock.wall_s -= 86_400
    assert await bearer(other) == "access-2"
    clock.forward(3600)
    assert await bearer(other) == "access-3"
    assert len(server.asked) == 3


async def test_a_clock_that_is_set_forward_refreshes_once(
    credential: Refreshing, server: TokenServer, clock: SetClock
) -> None:
    await credential.headers()
    clock.wall_s += 86_400

    assert await bearer(credential) == await bearer(credential) == "access-2"
    assert len(server.asked) == 2


async def test_a_clock_that_is_set_back_keeps_no_lease_alive(
    other: Refreshing, store: FailingStore, server: TokenServer, clock: SetClock
) -> None:
    await other.log_in(access_token=None, refresh_token=Secret("refresh-0"), lifetime_s=None)
    await store.claim(refresh_grant(server.url).key(NAME), lambda _: Step.REFRESH, "dead", 15)
    clock.wall_s -= 86_400
    asking = asyncio.create_task(bearer(other))
    looking = other._store
    assert isinstance(looking, CountedStore)
    await until(lambda: looking.looks > 1)
    assert not asking.done()
    clock.monotonic_s += 15

    assert await asking == "access-1"


async def test_client_credentials_need_no_log_in_and_are_shared(
    server: TokenServer, store: FailingStore, clock: SetClock
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


async def test_a_client_secret_that_is_missing_is_a_failure_before_anything(
    server: TokenServer, store: FailingStore
) -> None:
    grant = Grant(
        kind="client_credentials",
        token_url=server.url,
        client_id="me",
        client_secret=KeyValue("", place="the client's secret"),
    )

    found = await failure(Refreshing(NAME, grant, store).headers())

    assert found == Failure("missing", "No key: the client's secret is empty.")
    assert await store.read(grant.key(NAME)) is None


def test_a_lease_lasts_for_the_sending_and_the_answer() -> None:
    times = RefreshTimes()

    assert times.lease_s == times.send_s + times.answer_s
    assert times.wait_s >= 2 * times.lease_s
