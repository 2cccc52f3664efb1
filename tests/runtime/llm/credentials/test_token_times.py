"""How long a token is used, whatever the clocks do."""

import asyncio

import pytest

from runtime.llm.credentials.token_server import (
    NAME,
    CountedStore,
    SetClock,
    TokenServer,
    bearer,
    refresh_grant,
    until,
)
from turnwire_agent.llm.credentials.refreshing import Refreshing
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.stored_token import Step

pytestmark = pytest.mark.sockets


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
    other: Refreshing, store: CountedStore, server: TokenServer, clock: SetClock
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
