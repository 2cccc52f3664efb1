"""What a token server refuses, and what is remembered of it."""

import asyncio

import pytest

from runtime.llm.credentials.token_server import (
    NAME,
    Canned,
    CountedStore,
    SetClock,
    TokenServer,
    bearer,
    failure,
    refresh_grant,
    until,
)
from turnwire_agent.llm.credentials.grant import Grant
from turnwire_agent.llm.credentials.port import Failure
from turnwire_agent.llm.credentials.refreshing import Refreshing
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.sources import KeyValue

pytestmark = pytest.mark.sockets


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


async def test_tokens_that_come_after_a_log_in_are_dropped_for_its_refresh_token(
    credential: Refreshing, other: Refreshing, server: TokenServer
) -> None:
    server.answering.clear()
    asking = asyncio.create_task(bearer(credential))
    await until(lambda: bool(server.asked))
    await other.log_in(access_token=None, refresh_token=Secret("refresh-1"), lifetime_s=None)
    server.answering.set()

    assert await asking == "access-2"
    assert server.asked[1].form["refresh_token"] == "refresh-1"


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


async def test_a_client_secret_that_is_missing_is_a_failure_before_anything(
    server: TokenServer, store: CountedStore
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
